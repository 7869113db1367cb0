"""Sessions made by the day equal those that all facts make at once, however days are cut, whichever are asked for."""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake

from penstock.engine import candidate, daily
from penstock.engine.nights import Nights
from penstock.lake.local import Local
from penstock.model.measures import count, first, last, maximum, total
from penstock.model.source import Facts, Field, Source
from penstock.model.view import Sessions

MIDNIGHT = datetime(2026, 11, 18, tzinfo=UTC)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
NOISE = Source("a.noise", "who", (Field("who"), Field("amount", "bigint")), ())
MEASURES = {
    "large": count("amount > 50"),
    "amount": total("amount"),
    "most": maximum("amount"),
    "entry": first("amount"),
    "exit": last("amount"),
}
BY_TIME = Sessions("a.sessions", Facts(NOISE, "amount <> 13"), ("who",), MEASURES)
BY_ARRIVAL = Sessions("a.arrivals", Facts(NOISE, "amount <> 13"), ("who",), MEASURES, at="logged_at")
VIEWS = pytest.mark.parametrize("view", [BY_TIME, BY_ARRIVAL], ids=["by the day of the layout", "by another moment"])
# How many rows are a unit, and how many are too many for one: days together, alone, and in pieces.
SIZES = {"days together": (250, 2_000_000), "each day alone": (1, 2_000_000), "days in pieces": (1, 30)}


def moments() -> Iterator[tuple[str | None, timedelta]]:
    """Of five days: chance, whoever is busy at midnight, exactly the gap apart, and somebody who never rests."""
    chance = random.Random(11)  # noqa: S311
    for _ in range(300):
        yield chance.choice(["ann", "bob", "cyd", None]), timedelta(seconds=chance.randrange(5 * 86_400))
    for night in range(1, 5):
        yield from ((who, night * DAY + around * MINUTE) for who in ("dee", None) for around in (-59, -29, 0, 29, 58))
        yield from (("eve", night * DAY + around * MINUTE) for around in (-15, 15, 45))
    yield from (("fay", 1.4 * DAY + 25 * number * MINUTE) for number in range(140))


@pytest.fixture
def silver(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> DeltaTable:
    """Facts, some rejected, some logged some hours later, cut into units as the test says; no day has all files."""
    at_once, many = SIZES[request.param]
    monkeypatch.setattr(daily, "ROWS_AT_ONCE", at_once)
    monkeypatch.setattr(daily, "MANY_ROWS", many)
    chance = random.Random(12)  # noqa: S311
    rows = [
        {
            "day": (MIDNIGHT + after).date(),
            "disposition": "rejected" if who != "fay" and chance.random() < 0.1 else "fact",
            "happened_at": MIDNIGHT + after,
            "logged_at": MIDNIGHT + after + chance.choice([0, 0, 1, 30]) * timedelta(hours=1),
            "who": who,
            "amount": chance.randrange(14, 100),
        }
        for who, after in moments()
    ]
    for part in range(3):
        write_deltalake(tmp_path / "silver", pa.Table.from_pylist(rows[part::3]), mode="append", partition_by=["day"])
    return DeltaTable(tmp_path / "silver")


def rows(sessions: pa.Table) -> list[dict[str, Any]]:
    return sorted(sessions.to_pylist(), key=lambda row: (str(row["who"]), row["started"]))


def at_once(silver: DeltaTable, view: Sessions) -> pa.Table:
    return Local(silver.to_pyarrow_table(filters=pc.field("disposition") == "fact")).partials(view)


def by_the_day(silver: DeltaTable, view: Sessions, path: Path, asked: tuple[date, date] | None) -> pa.Table:
    path = path / "candidate"
    nights: Any = Nights(None, silver, view, str(path))  # type: ignore[arg-type]
    table = candidate.create(nights.schema, str(path))
    if asked is None:
        days = {row["day"] for row in at_once(silver, view).to_pylist()} | {MIDNIGHT.date() + n * DAY for n in range(7)}
    else:
        days = {asked[0] + n * DAY for n in range((asked[1] - asked[0]).days + 1)}
    candidate.commit(table, nights.files(days, asked))
    assert not (path / "_cut").exists()
    return DeltaTable(path).to_pyarrow_table().select(nights.schema.names)


@VIEWS
@pytest.mark.parametrize("silver", SIZES, indirect=True)
def test_sessions_of_all_days(silver: DeltaTable, view: Sessions, tmp_path: Path) -> None:
    assert rows(by_the_day(silver, view, tmp_path, None)) == rows(at_once(silver, view))


@VIEWS
@pytest.mark.parametrize(("first", "last"), [(0, 0), (1, 2), (2, 6), (-3, -1)])
@pytest.mark.parametrize("silver", SIZES, indirect=True)
def test_sessions_that_began_on_asked_days(
    silver: DeltaTable, view: Sessions, tmp_path: Path, first: int, last: int
) -> None:
    asked = MIDNIGHT.date() + first * DAY, MIDNIGHT.date() + last * DAY
    began = (pc.field("day") >= asked[0]) & (pc.field("day") <= asked[1])
    assert rows(by_the_day(silver, view, tmp_path, asked)) == rows(at_once(silver, view).filter(began))
