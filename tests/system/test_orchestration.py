"""A day in the life of the people who run this work in Airflow, through REST, on the real stack."""

import json
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from penstock.lake.gates import checks
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.publication import newest, open_table

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "alerts"))
from receivers import http_hook

BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
VIEW, SOURCE = "web.pageviews", "web.events"
# Each wait is some ten seconds on a quiet machine.
SECONDS = 400


class Operator:
    """Somebody of the oncall role with Airflow's REST API in hand."""

    def __init__(self, stack: Any, eventually: Any) -> None:
        self.stack, self.eventually = stack, eventually
        self.token = stack.token("oncall")
        self.layout = Layout(str(stack.home / "lake"))

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        told: dict[str, Any] = self.stack.ask(method, f"/api/v2{path}", body, self.token)
        return told

    def build(self, **form: object) -> str:
        run = self.ask("POST", "/dags/build_views/dagRuns", {"logical_date": None, "conf": {"domain": "web", **form}})
        return str(run["dag_run_id"])

    def ended(self, run: str) -> str:
        """The state that a build ends in."""
        state: list[str] = [""]

        def over() -> bool:
            state[0] = str(self.ask("GET", f"/dags/build_views/dagRuns/{run}")["state"])
            return state[0] in ("success", "failed")

        assert self.eventually(over, SECONDS), f"{run} is {state[0]} after {SECONDS} s"
        return state[0]

    def clear(self, run: str) -> None:
        body = {"dry_run": False, "dag_run_id": run, "reset_dag_runs": True, "only_failed": False}
        self.ask("POST", "/dags/build_views/clearTaskInstances", body)

    def send(self, count: int) -> None:
        """Page views from a browser, and the wait until they are facts."""
        before = self.facts()
        events = [
            {"type": "pageview", "visitor": f"v{number}", "site": "a.example", "url": "https://a.example/x"}
            for number in range(count)
        ]
        post(self.stack.url("collector", f"/v1/{SOURCE}"), events)
        assert self.eventually(lambda: self.facts() >= before + count, SECONDS)

    def facts(self) -> int:
        silver = open_table(self.layout.silver(FIRST_RELEASE, SOURCE))
        if silver is None:
            return 0
        return int(silver.to_pyarrow_dataset().filter(pa.compute.field("disposition") == "fact").count_rows())

    def published(self) -> int:
        """The page views that readers see in gold, at its smallest bucket."""
        gold = open_table(self.layout.gold(FIRST_RELEASE, VIEW))
        if gold is None:
            return 0
        rows = gold.to_pyarrow_table(columns=["views", "width"]).to_pylist()
        smallest = min((row["width"] for row in rows), default=None)
        return sum(row["views"] for row in rows if row["width"] == smallest)

    def break_silver(self) -> str:
        """What a shape with an error would write: a page view of no site."""
        path = self.layout.silver(FIRST_RELEASE, SOURCE)
        fact = DeltaTable(path).to_pyarrow_table(filters=[("disposition", "=", "fact")]).slice(0, 1)
        wrong = str(uuid.uuid4())
        changed = {"site": None, "event_id": wrong, "epoch": fact["epoch"][0].as_py() + 1_000_000}
        row = {**fact.to_pylist()[0], **changed}
        write_deltalake(path, pa.Table.from_pylist([row], fact.schema), mode="append")
        return wrong

    def mend_silver(self, wrong: str) -> None:
        DeltaTable(self.layout.silver(FIRST_RELEASE, SOURCE)).delete(f"event_id = '{wrong}'")


def post(address: str, body: object) -> None:
    # What names itself a library is taken for a bot, and views count people.
    headers = {"Content-Type": "application/json", "User-Agent": BROWSER}
    request = Request(address, json.dumps(body).encode(), headers)  # noqa: S310
    with urlopen(request, timeout=30) as answer:  # noqa: S310
        assert answer.status == 202


def span(first: date, last: date) -> dict[str, str]:
    return {"from_date": f"{first}T00:00:00Z", "to_date": f"{last}T00:00:00Z"}


@pytest.fixture(scope="module")
def operator(stack: Any) -> Operator:
    from time import monotonic, sleep

    def eventually(condition: Any, seconds: float) -> bool:
        deadline = monotonic() + seconds
        while not condition() and monotonic() < deadline:
            sleep(1)
        return bool(condition())

    return Operator(stack, eventually)


@pytest.fixture
def pager(operator: Operator) -> Iterator[list[dict[str, Any]]]:
    """What reaches the people who are on call."""
    file = operator.stack.home / "alerts.conf"
    with http_hook() as (address, heard):
        file.write_text(f"critical={address}\n")
        yield heard
        file.unlink()


def test_an_ordinary_day_events_become_published_numbers(operator: Operator) -> None:
    operator.send(20)
    assert operator.ended(operator.build()) == "success"
    assert operator.published() == operator.facts()


def test_a_gate_that_fails_keeps_the_last_good_numbers_and_calls_until_it_is_mended(
    operator: Operator, pager: list[dict[str, Any]]
) -> None:
    before, cut = operator.published(), newest(open_table(operator.layout.gold(FIRST_RELEASE, VIEW)))
    wrong = operator.break_silver()
    run = operator.build()
    assert operator.ended(run) == "failed"
    assert (operator.published(), newest(open_table(operator.layout.gold(FIRST_RELEASE, VIEW)))) == (before, cut)
    call = next(heard for heard in pager if "build_views" in heard["title"])
    assert "DataRefused" in call["title"]
    assert "Readers keep the last good numbers" in call["message"]
    assert "/penstock/runbooks/build_views" in call["message"]

    operator.mend_silver(wrong)
    operator.clear(run)
    assert operator.ended(run) == "success"
    assert any("[recovered]" in heard["title"] for heard in pager)


def test_every_verdict_is_on_record(operator: Operator) -> None:
    verdicts = {checked.passed for checked in checks(operator.layout.root) if checked.table == VIEW}
    assert verdicts == {True, False}


def test_a_backfill_by_rest_rebuilds_a_day_and_changes_nothing(operator: Operator) -> None:
    before, yesterday = operator.published(), datetime.now(UTC).date() - timedelta(days=1)
    asked = {
        "dag_id": "build_views",
        **span(yesterday, yesterday),
        "reprocess_behavior": "completed",
        "max_active_runs": 1,
    }
    backfill = operator.ask("POST", "/backfills", asked)
    assert operator.eventually(lambda: operator.ask("GET", f"/backfills/{backfill['id']}")["completed_at"], SECONDS)
    runs = operator.ask("GET", "/dags/build_views/dagRuns?run_type=backfill")["dag_runs"]
    assert [run["state"] for run in runs] == ["success"]
    assert operator.published() == before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/backfills", {"dag_id": "build_views", **span(date(2999, 1, 1), date(2999, 1, 2))}),
        ("/backfills", {"dag_id": "build_views", **span(date(2026, 1, 2), date(2026, 1, 1))}),
        ("/dags/build_views/dagRuns", {"logical_date": None, "conf": {"domain": "unheard"}}),
        ("/dags/build_views/dagRuns", {"logical_date": None, "conf": {"from": "18.11.2026; rm -rf /"}}),
    ],
    ids=["a backfill of the future", "a reversed backfill", "an unknown domain", "no date"],
)
def test_what_cannot_be_done_is_refused_before_a_run_exists(
    operator: Operator, path: str, body: dict[str, object]
) -> None:
    with pytest.raises(HTTPError) as refused:
        operator.ask("POST", path, body)
    assert 400 <= refused.value.code < 500


def test_an_analyst_sees_and_starts_nothing(operator: Operator) -> None:
    token = operator.stack.token("analyst")
    operator.stack.ask("GET", "/api/v2/dags/build_views", None, token)
    with pytest.raises(HTTPError) as refused:
        operator.stack.ask("POST", "/api/v2/dags/build_views/dagRuns", {"logical_date": None}, token)
    assert refused.value.code == 403


def test_runbooks_are_for_those_who_are_logged_in(operator: Operator) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(operator.stack.url("airflow", "/penstock/runbooks/build_views"), timeout=30)  # noqa: S310
    assert refused.value.code == 401
