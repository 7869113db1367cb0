# ruff: noqa: S608 - a view's own column
"""What came to a source's silver, asked of its files without Spark: a build asks before it plans anything."""

from collections.abc import Set
from datetime import date
from typing import Any

import duckdb
from deltalake import DeltaTable


def last_epoch(silver: DeltaTable) -> int:
    """The last epoch that has facts; -1 where none has."""
    return int(_asked(silver, "coalesce(max(epoch), -1)", -1)[0][0])


def days(silver: DeltaTable, at: str, since: int) -> Set[date]:
    """The days, by a moment's column, of the facts that came after an epoch."""
    # Silver is laid out by the day of `happened_at`.
    day = "day" if at == "happened_at" else f"cast(timezone('UTC', {at}) as date)"
    return {row[0] for row in _asked(silver, f"distinct {day}", since)}


def _asked(silver: DeltaTable, what: str, since: int) -> list[tuple[Any, ...]]:
    with duckdb.connect(":memory:", config={"threads": 1}) as engine:
        engine.execute("set TimeZone = 'UTC'")
        engine.register("silver", silver.to_pyarrow_dataset())
        return engine.execute(f"select {what} from silver where disposition = 'fact' and epoch > {since}").fetchall()
