"""Airflow on PostgreSQL by one setting: the same parts, the same DAGs, no other file changed."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import psycopg2
import pytest
from disturbing import UNDER_WAY
from operators import SECONDS, Operator, shown
from sqlalchemy.engine import make_url
from standing import RunningStack, eventually
from web_lake import WebLake

from penstock.lake.layout import Layout
from penstock.ops.stack import run, trial
from penstock.ops.stack.parts import parts
from penstock.refusal import Refusal
from penstock.settings import Settings

from .postgres import Server, binaries, server

PROGRAMS = binaries()
FULL = bool(os.environ.get("PENSTOCK_FULL"))
ATTEMPTS = int(os.environ.get("PENSTOCK_ATTEMPTS", "5"))
# A database that is started again is away for some seconds.
LONGEST = 30.0
YESTERDAY = datetime.now(UTC).date() - timedelta(days=1)
pytestmark = pytest.mark.skipif(
    PROGRAMS is None, reason="NO POSTGRESQL SERVER HERE, so Airflow on it was not tried: apt-get install postgresql"
)


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    assert PROGRAMS is not None
    with server(PROGRAMS) as postgres:
        yield postgres


@pytest.fixture(scope="module")
def database(running: Server) -> str:
    return running.address


@pytest.fixture(scope="module")
def airflow(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """What runs a DAG and no more, with DAGs that wait for a click: other parts never ask for a database."""
    settings: Settings = replace(trial.settings(tmp_path_factory.mktemp("postgres") / "home"), database=database)
    rows = [part for part in parts(settings) if part.name in ("api-server", "scheduler", "dag-processor")]
    with trial.resting():
        stack = run.start(settings, detach=True, rows=rows)
    try:
        assert all(state.well for state in trial.well(stack))
        yield RunningStack(settings.home, settings.to_env())
    finally:
        run.stop(stack.home)


def test_a_dag_runs_to_success_and_its_run_is_in_postgresql(airflow: RunningStack, database: str) -> None:
    token = airflow.token("admin")
    assert eventually(lambda: known(airflow, token), 120)
    airflow.ask("PATCH", "/api/v2/dags/restore_point", {"is_paused": False}, token)
    asked = airflow.ask(
        "POST", "/api/v2/dags/restore_point/dagRuns", {"logical_date": None, "conf": {"why": "to see"}}, token
    )

    def ended() -> bool:
        found = airflow.ask("GET", f"/api/v2/dags/restore_point/dagRuns/{asked['dag_run_id']}", token=token)
        return str(found["state"]) in ("success", "failed")

    assert eventually(ended, 240)
    with psycopg2.connect(database.replace("+psycopg2", "")) as tables, tables.cursor() as asking:
        asking.execute("select distinct state from task_instance where run_id = %s", (asked["dag_run_id"],))
        assert asking.fetchall() == [("success",)]
    assert not Path(airflow.home, "airflow", "airflow.db").exists()


def known(airflow: RunningStack, token: str) -> bool:
    """Whether the DAG files have been read."""
    return "restore_point" in {dag["dag_id"] for dag in airflow.ask("GET", "/api/v2/dags", token=token)["dags"]}


def test_a_database_that_lets_nobody_in_is_said_before_anything_starts(database: str, settings: Settings) -> None:
    wrong = replace(settings, database=database.replace("airflow:", "airflow:not-"))
    with pytest.raises(Refusal, match="password authentication failed") as refused:
        run.start(wrong, detach=True, rows=[])
    assert make_url(database).password not in str(refused.value)


def view(number: int) -> dict[str, object]:
    at = {"type": "pageview", "happened_at": f"{YESTERDAY}T12:00:00+00:00", "bot": False}
    return {"site": "a.example", "visitor": f"v{number}", "url": "https://a.example/x", **at}


@pytest.fixture(scope="module")
def lake(airflow: RunningStack) -> WebLake:
    return WebLake(Layout(str(airflow.home / "lake")))


@pytest.fixture(scope="module")
def operator(airflow: RunningStack, lake: WebLake) -> Operator:
    """With a day of page views in silver, built; no log and no stream are needed for that."""
    lake.tell(map(view, range(20)))
    operator = Operator(airflow)
    admin = airflow.token("admin")
    assert eventually(lambda: known(airflow, admin), 120)
    airflow.ask("PATCH", "/api/v2/dags/build_views", {"is_paused": False}, admin)
    assert operator.ended(operator.build()) == "success"
    assert operator.days() == Counter({YESTERDAY: 20})
    return operator


@pytest.mark.skipif(not FULL, reason="a minute an attempt: make faults")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(ATTEMPTS))
def test_a_build_whose_database_is_killed_in_the_middle_counts_once(
    operator: Operator, lake: WebLake, running: Server, seed: int
) -> None:
    chance, before = Random(seed), operator.days()  # noqa: S311
    lake.tell([view(100 + seed)])
    run = operator.build(**{"from": str(YESTERDAY), "to": str(YESTERDAY)})
    assert eventually(lambda: bool(operator.working("build_views")), SECONDS)
    time.sleep(chance.random() * UNDER_WAY)
    running.kill()
    time.sleep(chance.random() * LONGEST)
    running.start()
    assert operator.ended(run) == "success"
    assert operator.days() == before + Counter([YESTERDAY])


@pytest.mark.skipif(not FULL, reason="a minute an attempt: make faults")
def test_after_that_the_tables_are_those_of_a_clean_build(operator: Operator) -> None:
    published = shown(operator)
    assert operator.ended(operator.build(full=True)) == "success"
    assert shown(operator) == published
