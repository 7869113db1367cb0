"""`penstock query` and `penstock sql` against a real server over a real lake."""

import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from factories.hostile import FORMULAS
from toy_lake import MIDNIGHT, ToyLake, fact
from typer.testing import CliRunner

from penstock.client import query
from penstock.lake.gates import Checked
from penstock.lake.layout import Layout
from penstock.ops.cli import application
from penstock.ops.cli.query import PRINTERS, Form
from penstock.serve.asking import NotAnswered, Told
from penstock.settings import Settings

POLICY = "content-security-policy"
ALLOWED = {"default-src": "'none'", "frame-ancestors": "'none'", "base-uri": "'none'", "form-action": "'none'"} | {
    f"{kind}-src": "'self'" for kind in ("script", "style", "connect")
}
QUERY = ["query", "toy.events_by_what", "--from", "2026-03-01", "--to", "2026-03-09", "--by", "what"]


@pytest.fixture
def lake(lake: ToyLake) -> ToyLake:
    lake.epoch([fact(), fact(), fact(what="buy")])
    return lake


@pytest.fixture
def served(port: int, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a server whose lake has three facts."""
    monkeypatch.setenv("PENSTOCK_SERVE_PORT", str(port))
    monkeypatch.setenv("PENSTOCK_LAKE", settings.lake)
    return f"http://127.0.0.1:{port}"


def test_a_table_with_its_certificate(served: str) -> None:
    shown = CliRunner().invoke(application(), QUERY)
    assert (shown.exit_code, "look" in shown.stdout, "provisional" in shown.stdout) == (0, True, True)


def test_json_has_rows_and_certificate(served: str) -> None:
    told = json.loads(CliRunner().invoke(application(), [*QUERY, "--json"]).stdout)
    assert ([row["events"] for row in told["rows"]], told["certificate"]["facts"]) == ([2, 1], 3)


def test_csv_is_for_pipes(served: str) -> None:
    lines = CliRunner().invoke(application(), [*QUERY, "--format", "csv"]).stdout.splitlines()
    assert (lines[0].split(",")[0], len(lines)) == ('"what"', 3)


def test_csv_gives_a_spreadsheet_no_formula(tmp_path: Path) -> None:
    PRINTERS[Form.csv](Told(pa.table({"page": [*FORMULAS], "views": [-1] * len(FORMULAS)}), {}), tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        assert [*csv.reader(file)] == [["page", "views"], *([text, "-1"] for text in FORMULAS.values())]


def test_parquet_is_for_notebooks(served: str, tmp_path: Path) -> None:
    CliRunner().invoke(application(), [*QUERY, "--format", "parquet", "--out", str(tmp_path / "rows.parquet")])
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == 2


def test_a_chart_is_drawn_in_the_terminal(served: str) -> None:
    assert "events" in CliRunner().invoke(application(), [*QUERY, "--format", "chart"]).stdout


def test_a_refused_question_says_what_is_allowed(served: str) -> None:
    with pytest.raises(NotAnswered, match="allowed: what"):
        query("toy.events_by_what", served, by="nothing")


def test_a_notebook_gets_an_arrow_table_or_a_pandas_frame_with_the_certificate(served: str) -> None:
    told = query("toy.events_by_what", by="what", start="2026-03-01", end="2026-03-09", where=["what:eq:look"])
    assert isinstance(told.rows, pa.Table) and told.rows.select(["what", "events"]).to_pylist() == [
        {"what": "look", "events": 2}
    ]
    assert told.to_pandas()["events"].tolist() == [2]
    assert told.certificate["facts"] == 2


def test_who_only_sends_loads_nothing_that_is_for_asking() -> None:
    loaded = "import sys, penstock.client; print({'pyarrow', 'pandas', 'duckdb', 'deltalake'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True).strip() == "set()"


def test_sql_sees_views_and_facts_as_tables(served: str) -> None:
    text = "select (select sum(events) from toy_events_by_what) as events, count(*) as facts from toy_events"
    shown = CliRunner().invoke(application(), ["sql", text, "--json"])
    assert json.loads(shown.stdout)["rows"] == [{"events": 3, "facts": 3}]


@pytest.mark.parametrize(
    ("table", "where", "amounts"),
    [
        ("toy.now", '("who" is null)', [2]),
        # What the suites say in Spark's words.
        ("toy.now", "(not regexp_like(\"who\", '^a'))", [3]),
        # `offset` is a word of DuckDB's own.
        ("bronze.toy.events", '("offset" is null)', [5]),
    ],
)
def test_sql_shows_the_rows_of_a_refusal_by_the_query_of_its_alert(
    served: str, settings: Settings, table: str, where: str, amounts: list[int]
) -> None:
    layout = Layout(settings.lake)
    candidate, bronze = layout.candidate("r1", "toy.now"), layout.bronze("toy.events")
    write_deltalake(candidate, pa.table({"who": ["ann", None, "Bob"], "amount": [1, 2, 3]}))
    write_deltalake(bronze, pa.table({"offset": [7, None], "amount": [4, 5]}))
    judged = candidate if table == "toy.now" else bronze
    said = Checked(MIDNIGHT, table, "r1", False, "critical", "", judged, where, "[]", "[]", "[]", 1.0)
    _, command, text = shlex.split(said.text().rpartition(": ")[2])
    shown = CliRunner().invoke(application(), [command, text, "--json"])
    assert [row["amount"] for row in json.loads(shown.stdout)["rows"]] == amounts


@pytest.mark.parametrize(
    "text",
    ["select * from read_csv('/etc/passwd')", "copy (select 1) to '/tmp/x'", "select 1); attach 'x.db'; select (1"],
)
def test_sql_reaches_nothing_else(served: str, text: str) -> None:
    assert CliRunner().invoke(application(), ["sql", text]).exit_code != 0


PATHS = ("/", "/console/app.js", "/console/none.js", "/vendor/vega.js", "/api/views", "/api/views/none", "/none")


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_lets_the_browser_run_our_own_files_and_nothing_else(served: str, path: str) -> None:
    headers = httpx.get(f"{served}{path}").headers
    policy = {name: sources for name, _, sources in (one.strip().partition(" ") for one in headers[POLICY].split(";"))}
    assert {name: policy[name] for name in ALLOWED} == ALLOWED
    assert "unsafe" not in headers[POLICY]
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
