"""A day that is read hour by hour gives what it gives when it is read at once."""

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, write_deltalake

from penstock.engine import daily
from penstock.lake.local import Local
from penstock.model.measures import count, distinct, first, histogram, last, maximum, mean, quantile, theta, top, total
from penstock.model.source import Facts, Field, Source
from penstock.model.view import Sessions, Tally

DAY = date(2026, 11, 18)
MIDNIGHT = datetime(2026, 11, 18, tzinfo=UTC)
NOISE = Source("a.noise", "who", (Field("who"), Field("amount", "bigint")), ())
MEASURES = {
    "large": count("amount > 50"),
    "sum": total("amount"),
    "mean": mean("amount"),
    "most": maximum("amount"),
    "first": first("who"),
    "last": last("who"),
    "who": distinct("who"),
    "set": theta("who"),
    "half": quantile("amount", 0.5),
    "top": top("who"),
    "bars": histogram("amount", [0, 50]),
}
BY_FACT = Tally("a.by_fact", Facts(NOISE, "amount <> 13"), ("kind",), MEASURES)
LATE = Tally("a.late", Facts(NOISE), (), {"sum": total("amount")}, at="logged_at")


@pytest.fixture
def silver(tmp_path: Path) -> ds.Dataset:
    """Facts of three days, some rejected, some logged a day later; few enough that sketches are exact."""
    chance = random.Random(7)  # noqa: S311
    moments = [MIDNIGHT + timedelta(seconds=chance.randrange(-86_400, 172_800)) for _ in range(900)]
    rows = [
        {
            "day": moment.date(),
            "disposition": chance.choice(["fact", "fact", "rejected"]),
            "happened_at": moment,
            "logged_at": moment + timedelta(hours=chance.choice([0, 0, 24])),
            "kind": chance.choice([None, "a", "b"]),
            "who": f"w{chance.randrange(40)}",
            "amount": chance.randrange(100),
        }
        for moment in moments
    ]
    write_deltalake(str(tmp_path / "silver"), pa.Table.from_pylist(rows), partition_by=["day"])
    return DeltaTable(str(tmp_path / "silver")).to_pyarrow_dataset()


def numbers(tally: Tally, partials: pa.Table) -> list[dict[str, object]]:
    """What partials show, each bucket once; sketches by what they tell."""
    shown = {name: measure.shown(name) for name, measure in tally.measures.items()}
    keys = ", ".join(["width", "bucket", *tally.by])
    told = ", ".join([keys, "facts", *(f'{sql} as "{name}"' for name, sql in shown.items())])
    return Local(partials)._table(f"select {told} from facts order by {keys}").to_pylist()  # noqa: S608


@pytest.mark.parametrize("tally", [BY_FACT, LATE], ids=["by the day of the layout", "by another moment"])
def test_hour_by_hour_equals_at_once(silver: ds.Dataset, tally: Tally) -> None:
    (whole,) = daily.partials(silver, [tally], [DAY])
    (pieces,) = daily.partials(silver, [tally], [DAY], many=10)
    assert {row["width"] for row in numbers(tally, whole)} == {"1 minute", "1 hour", "1 day"}
    assert numbers(tally, pieces) == numbers(tally, whole)
    day = [row for row in numbers(tally, whole) if row["width"] == "1 day"]
    assert sum(int(str(row["facts"])) for row in day) == facts(silver, tally)


@pytest.mark.parametrize("many", [2_000_000, 10], ids=["at once", "hour by hour"])
@pytest.mark.parametrize("tally", [BY_FACT, LATE], ids=["by the day of the layout", "by another moment"])
def test_days_together_equal_each_day(silver: ds.Dataset, tally: Tally, many: int) -> None:
    days = [DAY - timedelta(days=1), DAY + timedelta(days=1)]
    (together,) = daily.partials(silver, [tally], days, many=many)
    each = [daily.partials(silver, [tally], [day])[0] for day in days]
    assert numbers(tally, together) == numbers(tally, pa.concat_tables(each))


def asked(tally: Tally, *numbers: int) -> daily.Asked:
    return daily.Asked(tally, [DAY + timedelta(days=number) for number in numbers], "")


SIZES = {DAY + timedelta(days=number): 100 for number in range(6)} | {DAY + timedelta(days=2): 300_000}


def numbered(every: Sequence[daily.Asked], tasks: int) -> list[tuple[list[int], tuple[int, ...]]]:
    units = daily.units(every, SIZES, tasks)
    return [([(day - DAY).days for day in days], tuple(who)) for days, who in units]


def test_small_days_are_counted_together_and_a_large_one_alone() -> None:
    assert numbered([asked(BY_FACT, *range(6))], 1) == [([0, 1], (0,)), ([2], (0,)), ([3, 4, 5], (0,))]


def test_every_task_has_something_to_do() -> None:
    assert numbered([asked(BY_FACT, 0, 1, 3, 4)], 2) == [([0, 1], (0,)), ([3, 4], (0,))]


def test_days_are_together_where_the_same_tallies_ask_for_them() -> None:
    assert numbered([asked(BY_FACT, 0, 1, 3), asked(BY_FACT, 1, 3, 4)], 1) == [
        ([0], (0,)),
        ([1, 3], (0, 1)),
        ([4], (1,)),
    ]


def test_days_of_a_moment_that_the_table_is_not_laid_out_by_are_counted_alone() -> None:
    assert numbered([asked(LATE, 0, 1)], 1) == [([0], (0,)), ([1], (0,))]


def facts(silver: ds.Dataset, tally: Tally) -> int:
    """Counted without any of the code that is tried."""
    rows = silver.to_table().to_pylist()
    chosen = (row for row in rows if row["disposition"] == "fact" and (tally is LATE or row["amount"] != 13))
    return sum(row[tally.at].date() == DAY for row in chosen)


def test_a_day_without_rows_gives_none(silver: ds.Dataset) -> None:
    (nothing,) = daily.partials(silver, [BY_FACT], [date(2020, 1, 1)])
    assert nothing.num_rows == 0


def test_sessions_are_counted_on_the_day_they_started(silver: ds.Dataset, tmp_path: Path) -> None:
    sessions = Sessions("a.sessions", Facts(NOISE), ("who",), {"events": count()})
    gold = str(tmp_path / "gold")
    made = Local(silver.to_table(filter=ds.field("disposition") == "fact")).partials(sessions)
    write_deltalake(gold, made, partition_by=["day", "width"])
    rows = DeltaTable(gold).to_pyarrow_dataset()
    tally = Tally("a.visits", sessions, (), {"visits": count(), "events": total("events")}, "started", "1 day")
    (whole,) = daily.partials(rows, [tally], [DAY])
    assert whole["visits"].to_pylist() == [sum(moment.date() == DAY for moment in made["started"].to_pylist())]
    (pieces,) = daily.partials(rows, [tally], [DAY], many=10)
    assert numbers(tally, pieces) == numbers(tally, whole)


@pytest.mark.parametrize("every", ["1 week", "7 hours", "1 month"])
def test_a_bucket_that_is_not_within_a_day_is_refused(every: str) -> None:
    with pytest.raises(ValueError, match="roll"):
        Tally("a.wide", Facts(NOISE), (), {"facts": count()}, every=every)
