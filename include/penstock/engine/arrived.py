# ruff: noqa: S608 - a view's own column
"""What came to a table, asked of its files without Spark: a build asks before it plans anything.

Each file's greatest epoch is in the table's log, so that few files are read, of however many.
"""

from collections.abc import Iterator, Set
from datetime import date
from math import inf
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from penstock.engine import versions
from penstock.lake.files import File, file_list
from penstock.lake.place import rows

FACT = pc.field("disposition") == "fact"
ANY = pc.scalar(True)


def last_epoch(silver: DeltaTable) -> int:
    """The last epoch that has facts; -1 where none has."""
    return _last(silver, FACT)


def newest(table: DeltaTable) -> int:
    """The last epoch that has any row; -1 where none has."""
    return _last(table, ANY)


def at_most(silver: DeltaTable, since: int) -> int:
    """How many rows came after an epoch, by the log, which counts whole files."""
    return sum(file.rows for file in _later(silver, since))


def days(silver: DeltaTable, until: date | None, at: str, since: int) -> Set[date]:
    """The days, by a moment's column, of the facts that came after an epoch: of those after a day, if one is said."""
    # Silver is laid out by the day of `happened_at`.
    found = _days(silver, since) if at == "happened_at" else _days_by(silver, at, since)
    return {day for day in found if until is None or day > until}


def _last(table: DeltaTable, which: pc.Expression) -> int:
    last = -1
    for file in _later(table, last):
        if _greatest(file) <= last:
            break
        last = max([last, *pc.unique(_epochs(file, which)).to_pylist()])
    return last


def _days(silver: DeltaTable, since: int) -> Set[date]:
    """The days whose folders have such facts: one file of each is read, as a rule."""
    found = set[date]()
    for file in _later(silver, since):
        if file.partition["day"] not in found and len(_epochs(file, FACT & (pc.field("epoch") > since))):
            found.add(file.partition["day"])
    return found


def _days_by(silver: DeltaTable, at: str, since: int) -> Set[date]:
    day = f"cast(timezone('UTC', {at}) as date)"
    facts = f"select distinct {day} from rows where disposition = 'fact' and epoch > $since"
    return {row[0] for row in came(silver, since, facts)}


def _later(table: DeltaTable, since: int) -> Iterator[File]:
    """Files that may have rows of later epochs, those with the last ones first."""
    return (file for file in sorted(file_list(table), key=_greatest, reverse=True) if _greatest(file) > since)


def _greatest(file: File) -> float:
    """Who wrote a file may have left out what is in it."""
    said = file.greatest.get("epoch")
    return inf if said is None else said


def _epochs(file: File, which: pc.Expression) -> pa.ChunkedArray:
    return rows(file.uri, ["disposition", "epoch"]).filter(which)["epoch"]


def after(since: int) -> str:
    """The condition of rows that came after an epoch."""
    return f"epoch > {since}"


def asked(table: DeltaTable, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """DuckDB's answer to a question about a table's `rows`."""
    return _answered(versions.dataset(versions.table(table)), sql, parameters)


def came(table: DeltaTable, since: int, sql: str) -> list[tuple[Any, ...]]:
    """The same of `rows` that came after an epoch, which the question calls `$since`: no other file is opened."""
    return _answered(versions.dataset(versions.table(table), after(since)), sql, {"since": since})


def _answered(rows: ds.Dataset, sql: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with duckdb.connect(":memory:", config={"threads": 1}) as engine:
        engine.execute("set TimeZone = 'UTC'")
        engine.register("rows", rows)
        return engine.execute(sql, parameters).fetchall()
