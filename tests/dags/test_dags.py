"""Every DAG file: cheap to parse, owned, documented, bounded, and exact about what it submits."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
FILES = sorted(file.stem for file in (PROJECT / "dags").glob("*.py"))
PARSE_SECONDS = 0.5


@pytest.fixture(scope="module")
def inspected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process that parsed all files and did nothing else has to say."""
    home = tmp_path_factory.mktemp("airflow")
    connection = json.dumps({"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}})
    environment = {"AIRFLOW_HOME": str(home), "AIRFLOW_CONN_SPARK_LAKE": connection, "PENSTOCK_HOME": str(home)}
    told = subprocess.run(
        [sys.executable, str(HERE / "inspect_dags.py"), str(PROJECT / "dags")],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr[-3000:]
    return dict(json.loads(told.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def parsed(inspected: dict[str, Any]) -> dict[str, Any]:
    return {each["file"]: each for each in inspected["files"]}


def tasks(parsed: dict[str, Any], file: str) -> list[dict[str, Any]]:
    return [task for dag in parsed[file]["dags"] for task in dag["tasks"]]


def reviewed(name: str, told: str) -> str:
    """The committed command; where it is asked for, what is told now is committed."""
    file = HERE / "commands" / f"{name}.txt"
    if os.environ.get("PENSTOCK_REWRITE"):
        file.write_text(told + "\n")
    return file.read_text().removesuffix("\n")


@pytest.mark.parametrize("file", FILES)
def test_a_dag_file_imports_nothing_heavy(parsed: dict[str, Any], file: str) -> None:
    assert parsed[file]["heavy"] == []


@pytest.mark.parametrize("file", FILES)
def test_a_dag_file_takes_less_than_half_a_second_of_cpu(parsed: dict[str, Any], file: str) -> None:
    assert parsed[file]["seconds"] < PARSE_SECONDS


@pytest.mark.parametrize("file", FILES)
def test_a_file_holds_one_dag_of_its_name_with_documentation(parsed: dict[str, Any], file: str) -> None:
    dags = [(dag["dag_id"], bool(re.search(r"\*\*When .*fails", dag["doc"]))) for dag in parsed[file]["dags"]]
    assert dags == [(file, True)]


@pytest.mark.parametrize("file", FILES)
def test_every_task_is_owned_bounded_and_tells_when_it_fails(parsed: dict[str, Any], file: str) -> None:
    for task in tasks(parsed, file):
        assert task["owner"] == "data-platform"
        assert task["pool"] != "default_pool"
        assert task["policy"] == "ExceptionRetryPolicy"
        assert task["alerts"]


@pytest.mark.parametrize("file", FILES)
def test_every_task_and_its_alert_link_a_runbook_that_is_there(parsed: dict[str, Any], file: str) -> None:
    links = [task["runbook"] for task in tasks(parsed, file)]
    assert all((PROJECT / "docs" / link.removeprefix("/penstock/")).with_suffix(".md").is_file() for link in links)


@pytest.mark.parametrize("file", FILES)
def test_every_pool_is_one_that_the_scheduler_makes(parsed: dict[str, Any], file: str) -> None:
    from penstock.ops.airflow.pools import POOLS

    assert {task["pool"] for task in tasks(parsed, file)} <= set(POOLS)


@pytest.mark.parametrize("file", FILES)
def test_what_is_submitted_is_what_was_reviewed(parsed: dict[str, Any], file: str) -> None:
    """A change of the command shows in review. `PENSTOCK_REWRITE=1 pytest tests/dags` writes the files anew."""
    for task in tasks(parsed, file):
        if task["command"] is None:
            continue
        assert task["command"] == reviewed(f"{file}.{task['task_id']}", task["command"])


@pytest.mark.parametrize("cluster", ["kubernetes", "yarn"])
def test_what_is_submitted_to_a_cluster_is_what_was_reviewed(inspected: dict[str, Any], cluster: str) -> None:
    told = inspected["sent"][cluster]
    assert told == reviewed(f"streams.stream.{cluster}", told)


def test_each_stream_group_has_a_dag_a_pool_and_a_driver_of_its_own(inspected: dict[str, Any]) -> None:
    tasks = {dag["dag_id"]: dag["tasks"][0] for dag in inspected["grouped"]["dags"]}
    assert {(name, task["pool"], task["command"].split()[-1]) for name, task in tasks.items()} == {
        ("streams_clicks", "streams_clicks", "--group=streams_clicks"),
        ("streams_people", "streams_people", "--group=streams_people"),
    }


def test_what_waits_for_what_and_when_is_what_was_reviewed(parsed: dict[str, Any]) -> None:
    """Schedules, pools, retries and dependencies, as commands above."""
    now = {file: dag["structure"] for file in FILES for dag in parsed[file]["dags"]}
    reviewed = HERE / "structure.json"
    if os.environ.get("PENSTOCK_REWRITE"):
        reviewed.write_text(json.dumps(now, indent=1) + "\n")
    assert now == json.loads(reviewed.read_text())


@pytest.mark.parametrize("file", FILES)
def test_what_runs_in_shifts_has_a_second_shift(parsed: dict[str, Any], file: str) -> None:
    shifts = [date for dag in parsed[file]["dags"] for date in dag["shifts"]]
    assert (bool(shifts), len(set(shifts))) == (file == "streams", len(shifts))


def test_every_runbook_says_what_it_means_how_bad_it_is_what_to_check_and_what_to_press() -> None:
    parts = ("**What it means.**", "**How bad.**", "**What to check", "**What to press.**")
    lacking = {
        file.stem: [part for part in parts if part not in file.read_text()]
        for file in (PROJECT / "docs" / "runbooks").glob("*.md")
    }
    assert {name: parts for name, parts in lacking.items() if parts} == {}


def test_every_finding_has_a_runbook() -> None:
    looks = (PROJECT / "include" / "penstock" / "ops" / "watch").glob("*.py")
    kinds = {kind for file in looks for kind in re.findall(r'Finding\(\s*"(\w+)"', file.read_text())}
    runbooks = {file.stem for file in (PROJECT / "docs" / "runbooks").glob("*.md")}
    assert (len(kinds) > 5, kinds - runbooks) == (True, set())
