"""Where Airflow's tables are: a file of the home, or PostgreSQL by one setting, asked before anything starts."""

from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError

from penstock.refusal import Refusal
from penstock.settings import Settings

EXAMPLE = "postgresql+psycopg2://USER:PASSWORD@HOST:5432/DATABASE"
# Seconds that a process waits for another's commit on SQLite; a busy machine needs more than the usual five.
BUSY = 60
PATIENCE = 10


def address(settings: Settings, folder: Path) -> str:
    """Where Airflow's tables are, as SQLAlchemy spells it."""
    return settings.database or f"sqlite:///{folder}/airflow.db?timeout={BUSY}"


def in_turn() -> None:
    """Lets whoever sets a savepoint on SQLite write at once, or wait until it may.

    Airflow makes the runs of a backfill within savepoints that begin with a look. Whoever looks first and writes then
    is told at once that the database is locked if anybody committed in between, which the scheduler does all the time.
    """
    event.listen(Engine, "savepoint", _write)


def _write(connection: Connection, name: str) -> None:
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "sqlite" and not driver.in_transaction:
        driver.execute("begin immediate")


def check(settings: Settings) -> None:
    """Refuses a database that does not answer: Airflow's parts would be started again and again."""
    if settings.database and (why := wrong(settings.database)):
        raise Refusal(f"{why} Nothing was started. Set PENSTOCK_DATABASE to {EXAMPLE}, or unset it for SQLite.")


def wrong(text: str) -> str:
    """What keeps this address from working, in one sentence without its password; empty when it answers."""
    try:
        url = make_url(text)
    except ArgumentError:
        return "PENSTOCK_DATABASE is no address."
    if url.get_backend_name() != "postgresql" or url.get_driver_name() != "psycopg2":
        return f"PENSTOCK_DATABASE names {url.drivername!r}."
    return refusal(url)


def refusal(url: URL) -> str:
    import psycopg2

    try:
        psycopg2.connect(
            host=url.host, port=url.port, user=url.username, password=url.password, dbname=url.database,
            connect_timeout=PATIENCE,
        ).close()  # fmt: skip
    except psycopg2.OperationalError as error:
        said = str(error).strip().splitlines()
        return f"The database {url.database!r} on {url.host} does not let Airflow in ({said[0]})."
    return ""
