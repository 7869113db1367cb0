"""Where Airflow's tables are, and what is said of an address that cannot work."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, event, text

from penstock.ops.stack import database, trial
from penstock.refusal import Refusal
from penstock.settings import Settings


def test_without_a_setting_it_is_a_file_that_waits_for_its_writers(settings: Settings) -> None:
    assert database.address(settings, Path("/home")) == "sqlite:////home/airflow.db?timeout=60"
    database.check(settings)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("postgres", "no address"),
        ("mysql://airflow:hush@127.0.0.1/airflow", "names 'mysql'"),
        ("postgresql+asyncpg://airflow:hush@127.0.0.1/airflow", "names 'postgresql\\+asyncpg'"),
        (f"postgresql+psycopg2://airflow:hush@127.0.0.1:{trial.free_port()}/airflow", "refused"),
    ],
    ids=["no address", "another product", "another driver", "nobody there"],
)
def test_an_address_that_cannot_work_is_refused_without_its_password(
    settings: Settings, address: str, why: str
) -> None:
    with pytest.raises(Refusal, match=why) as refused:
        database.check(replace(settings, database=address))
    assert "hush" not in str(refused.value) and "unset it" in str(refused.value)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A table of Airflow's file, as its parts write it."""
    database.in_turn()
    file = create_engine(f"sqlite:///{tmp_path}/airflow.db")
    with file.begin() as connection:
        connection.execute(text("pragma journal_mode = wal"))
        connection.execute(text("create table runs (day)"))
    yield file
    event.remove(Engine, "savepoint", database._write)
    file.dispose()


def test_whoever_looks_within_a_savepoint_may_write_although_somebody_else_wants_to(
    engine: Engine, tmp_path: Path
) -> None:
    scheduler = sqlite3.connect(tmp_path / "airflow.db", timeout=0, isolation_level=None)
    with engine.connect() as backfill:
        with backfill.begin_nested():
            assert not backfill.execute(text("select * from runs")).all()
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                scheduler.execute("insert into runs values (1)")
            backfill.execute(text("insert into runs values (2)"))
        backfill.commit()
    assert scheduler.execute("select * from runs").fetchall() == [(2,)]
