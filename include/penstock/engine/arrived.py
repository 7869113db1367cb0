# ruff: noqa: S608 - a view's own column
"""What came to a table, asked of its files without Spark: a build asks before it plans anything."""

from collections.abc import Set
from datetime import date
from typing import Any

import duckdb
from deltalake import DeltaTable


def last_epoch(silver: DeltaTable) -> int:
    """The last epoch that has facts; -1 where none has."""
    return int(asked(silver, "select coalesce(max(epoch), -1) from rows where disposition = 'fact'")[0][0])


def newest(table: DeltaTable) -> int:
    """The last epoch that has any row; -1 where none has."""
    return int(asked(table, "select coalesce(max(epoch), -1) from rows")[0][0])


def days(silver: DeltaTable, until: date | None, at: str, since: int) -> Set[date]:
    """The days, by a moment's column, of the facts that came after an epoch: of those after a day, if one is said."""
    # Silver is laid out by the day of `happened_at`.
    day = "day" if at == "happened_at" else f"cast(timezone('UTC', {at}) as date)"
    came = f"select distinct {day} from rows where disposition = 'fact' and epoch > $since"
    return {day for (day,) in asked(silver, came, since=since) if until is None or day > until}


def asked(table: DeltaTable, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """DuckDB's answer to a question about a table's `rows`."""
    with duckdb.connect(":memory:", config={"threads": 1}) as engine:
        engine.execute("set TimeZone = 'UTC'")
        engine.register("rows", table.to_pyarrow_dataset())
        return engine.execute(sql, parameters).fetchall()
