"""Airflow on PostgreSQL by one setting: the same parts, the same DAGs, no other file changed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg2
import pytest
from sqlalchemy.engine import make_url

from penstock.ops.stack import run, trial
from penstock.ops.stack.parts import parts
from penstock.refusal import Refusal
from penstock.settings import Settings

from .conftest import RunningStack, eventually
from .postgres import binaries, server

PROGRAMS = binaries()
pytestmark = pytest.mark.skipif(
    PROGRAMS is None, reason="NO POSTGRESQL SERVER HERE, so Airflow on it was not tried: apt-get install postgresql"
)


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    assert PROGRAMS is not None
    with server(PROGRAMS) as address:
        yield address


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
    airflow.ask("PATCH", "/api/v2/dags/maintain", {"is_paused": False}, token)
    asked = airflow.ask("POST", "/api/v2/dags/maintain/dagRuns", {"logical_date": None}, token)

    def ended() -> bool:
        found = airflow.ask("GET", f"/api/v2/dags/maintain/dagRuns/{asked['dag_run_id']}", token=token)
        return str(found["state"]) in ("success", "failed")

    assert eventually(ended, 240)
    with psycopg2.connect(database.replace("+psycopg2", "")) as tables, tables.cursor() as asking:
        asking.execute("select distinct state from task_instance where run_id = %s", (asked["dag_run_id"],))
        assert asking.fetchall() == [("success",)]
    assert not Path(airflow.home, "airflow", "airflow.db").exists()


def known(airflow: RunningStack, token: str) -> bool:
    """Whether the DAG files have been read."""
    return "maintain" in {dag["dag_id"] for dag in airflow.ask("GET", "/api/v2/dags", token=token)["dags"]}


def test_a_database_that_lets_nobody_in_is_said_before_anything_starts(database: str, settings: Settings) -> None:
    wrong = replace(settings, database=database.replace("airflow:", "airflow:not-"))
    with pytest.raises(Refusal, match="password authentication failed") as refused:
        run.start(wrong, detach=True, rows=[])
    assert make_url(database).password not in str(refused.value)
