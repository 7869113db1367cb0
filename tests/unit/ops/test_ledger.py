"""`penstock ledger`: every source's hours of the range that was asked for, and a status that sees each of them."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from click.testing import Result
from confluent_kafka import KafkaError, KafkaException
from deltalake import write_deltalake
from typer.testing import CliRunner

from penstock.lake import ledger
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.ops.cli import application
from penstock.refusal import Refusal
from penstock.settings import Settings

SOURCES = ("web.events", "web.users")


@pytest.fixture(autouse=True)
def a_log_that_keeps_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "accepted_by_hour", lambda *_: {})
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)


def entries(source: str, hour: datetime, facts: int) -> Iterable[Mapping[str, Any]]:
    """An hour of five records of which so many became facts."""
    booked = {"source": source, "hour": hour, "reason": None}
    yield {**booked, "release": None, "stage": "archived", "records": 5}
    yield {**booked, "release": FIRST_RELEASE, "stage": "fact", "records": facts}


def books(settings: Settings, unbalanced: int) -> None:
    """Thirty hours of each source; of the first source's, one lacks a disposition."""
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    rows = [
        entry
        for source in SOURCES
        for back in range(30)
        for entry in entries(
            source, now - timedelta(hours=back), 4 if (source, back) == (SOURCES[0], unbalanced) else 5
        )
    ]
    write_deltalake(Layout(settings.lake).ledger(), pa.Table.from_pylist(rows, ledger.LEDGER))


def asked(*words: str) -> Result:
    return CliRunner().invoke(application(), ["ledger", "--json", *words])


def test_every_source_has_its_hours(settings: Settings) -> None:
    books(settings, unbalanced=29)
    told = json.loads(asked("--hours", "24").stdout)["hours"]
    assert [hour["source"] for hour in told] == [source for source in SOURCES for _ in range(25)]


@pytest.mark.parametrize(
    ("unbalanced", "status"), [(24, 1), (25, 0), (0, 0)], ids=["in the range", "before it", "an open hour"]
)
def test_the_status_sees_each_closed_hour_of_the_range(settings: Settings, unbalanced: int, status: int) -> None:
    books(settings, unbalanced)
    told = asked("--hours", "24")
    assert (told.exit_code, json.loads(told.stdout)["balanced"]) == (status, not status), told.output


def test_without_a_log_the_books_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object) -> None:
        raise KafkaException(KafkaError(KafkaError._TRANSPORT, "Broker transport failure"))

    monkeypatch.setattr(ledger, "accepted_by_hour", silent)
    told = asked("--source", SOURCES[0])
    assert isinstance(told.exception, Refusal)
    assert "The log does not answer at 127.0.0.1" in str(told.exception)


def test_books_of_nothing_say_so_and_how_to_begin() -> None:
    told = CliRunner().invoke(application(), ["ledger"])
    assert (told.exit_code, "No record was archived" in told.stdout) == (0, True)
