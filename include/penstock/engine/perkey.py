"""Views by key: a pure function over a key's facts, computed again for the keys and days that gained facts."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.model.view import PerKey

WIDTH = "key"
DAY = timedelta(days=1)
ARROW = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
    "date": pa.date32(),
}
Fact = Mapping[str, Any]


def recomputed(layout: Layout, release: str, view: PerKey, facts: pa.Table, epoch: int) -> pa.Table:
    """The speed plan: rows of every key and day that these facts touch. One with `facts` zero: no rows any more."""
    touched = _chosen(view, facts, facts)
    units = {(key, day) for key, day in _units(view, touched)}
    if not units:
        return _table(view, facts.schema, [])
    days = sorted(day for _, day in units)
    history = _history(layout, release, view, facts, (days[0] - DAY * view.horizon, days[-1]), epoch)
    return _table(view, facts.schema, _rows(view, touched + history, units))


def all_rows(view: PerKey, facts: DataFrame, days: Iterable[date] | None) -> DataFrame:
    """The batch plan: the rows of these days, of all keys; no days: of every day that has facts."""
    wanted = None if days is None else set(days)

    def of_key(told: pa.Table) -> pa.Table:
        return _of_days(view, told.schema, told.to_pylist(), wanted)

    chosen = facts.where(view.of.where)
    if wanted is not None:
        chosen = chosen.where(F.to_date(view.at).isin(sorted(looked_back_on(view, wanted))))
    # The function travels with the job, so that executors need no domain on their path.
    cloudpickle.register_pickle_by_value(sys.modules[view.rows.__module__])  # type: ignore[no-untyped-call]
    kinds = {name: facts.schema[name].dataType.simpleString() for name in view.key} | dict(view.columns)
    columns = ", ".join(f"`{name}` {kind}" for name, kind in kinds.items())
    return chosen.groupBy(*view.key).applyInArrow(of_key, f"day date, width string, {columns}, facts bigint")


def few_rows(view: PerKey, facts: pa.Table, days: Iterable[date] | None) -> pa.Table:
    """The same of facts that are in memory, those of the days that these look back on among them."""
    return _of_days(view, facts.schema, _chosen(view, facts, facts), None if days is None else set(days))


def _of_days(view: PerKey, schema: pa.Schema, facts: list[Fact], days: Set[date] | None) -> pa.Table:
    units = {(key, day) for key, day in _units(view, facts) if days is None or day in days}
    return _table(view, schema, (row for row in _rows(view, facts, units) if row["facts"]))


def looked_back_on(view: PerKey, days: Iterable[date]) -> set[date]:
    """The days whose facts the rows of these days are made of."""
    return {day - DAY * back for day in days for back in range(view.horizon + 1)}


def touched_days(view: PerKey, days: Iterable[date]) -> set[date]:
    """The days that facts of these days can change: those that look back on them."""
    return {day + DAY * ahead for day in days for ahead in range(view.horizon + 1)}


def _units(view: PerKey, facts: Iterable[Fact]) -> Iterator[tuple[tuple[Any, ...], date]]:
    for fact in facts:
        for day in touched_days(view, [_day(fact[view.at])]):
            yield _key(view, fact), day


def _rows(view: PerKey, facts: list[Fact], units: set[tuple[Any, date]]) -> Iterator[dict[str, Any]]:
    """What the function makes of each unit, in the stored columns."""
    in_order = sorted(_sorted(view, facts), key=lambda fact: repr(_key(view, fact)))
    by_key = {key: list(told) for key, told in groupby(in_order, key=lambda fact: _key(view, fact))}
    for key, day in sorted(units, key=repr):
        seen = [fact for fact in by_key.get(key, []) if day - DAY * view.horizon <= _day(fact[view.at]) <= day]
        fixed = {"day": day, "width": WIDTH, **dict(zip(view.key, key, strict=True))}
        made = [row for row in view.rows(seen) if _day(row[view.at]) == day] if seen else []
        yield from ({**fixed, **row, "facts": 1} for row in made)
        if not made:
            yield {**fixed, "facts": 0}


def _history(
    layout: Layout, release: str, view: PerKey, facts: pa.Table, days: tuple[date, date], epoch: int
) -> list[Fact]:
    """The older facts of the same keys in these days, from silver, without Spark."""
    table = open_table(layout.silver(release, view.of.source.name))
    if table is None:
        return []
    silver = table.to_pyarrow_dataset(partitions=None)
    first, last = (pa.scalar(day) for day in days)
    near = (pc.field("day") >= first) & (pc.field("day") <= last) & (pc.field("epoch") < epoch)
    told = silver.to_table(filter=near & (pc.field("disposition") == "fact"))
    return _chosen(view, told, facts)


def _chosen(view: PerKey, facts: pa.Table, keys: pa.Table) -> list[Fact]:
    """The facts that the view is of, of the keys that these others have."""
    same = " and ".join(f'f."{name}" is not distinct from k."{name}"' for name in view.key)
    with duckdb.connect(":memory:", config={"threads": 1}) as engine:
        engine.execute("set TimeZone = 'UTC'")
        engine.register("told", facts)
        engine.register("keys", keys)
        sql = f"select * from told f where ({view.of.where}) and exists (select 1 from keys k where {same})"  # noqa: S608
        return _sorted(view, engine.sql(sql).to_arrow_table().to_pylist())


def _sorted(view: PerKey, facts: list[Fact]) -> list[Fact]:
    """In order of time; equal times by event id, so that every plan sees one order."""
    return sorted(facts, key=lambda fact: (_utc(fact[view.at]), fact["event_id"]))


def _table(view: PerKey, facts: pa.Schema, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), pa.schema([*_kept(view, facts), ("facts", pa.int64())]))


def _kept(view: PerKey, facts: pa.Schema) -> list[tuple[str, pa.DataType]]:
    keys = [(name, facts.field(name).type) for name in view.key]
    return [("day", pa.date32()), ("width", pa.string()), *keys, *((n, ARROW[t]) for n, t in view.columns.items())]


def _key(view: PerKey, fact: Fact) -> tuple[Any, ...]:
    return tuple(fact[name] for name in view.key)


def _day(moment: datetime) -> date:
    return _utc(moment).date()


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
