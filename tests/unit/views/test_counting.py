"""A candidate is counted from its files, whatever is in them, or nothing at all."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from penstock.engine.counting import ROWS, Written

SCHEMA = pa.schema([("page", pa.string()), ("views", pa.int64())])
# The gate asks Spark only for rows that failed.
NO_SPARK: Any = None


@pytest.mark.parametrize(
    ("rows", "where", "counts"),
    [
        ([], "true", [0, 0, 0]),
        ([("/", 1), ("/", -1), ("x", None)], "true", [3, 1, 1]),
        ([("/", 1), ("x", None)], "views > 0", [1, 0, 0]),
        ([("/", 1)], "views > 1", [0, 0, 0]),
    ],
    ids=["an empty table", "nulls", "some of them", "none of them"],
)
def test_conditions_are_counted_where_they_hold(
    tmp_path: Path, rows: list[tuple[Any, ...]], where: str, counts: list[int]
) -> None:
    DeltaTable.create(str(tmp_path), SCHEMA)
    write_deltalake(str(tmp_path), pa.table([*zip(*rows, strict=True)] or [[], []], schema=SCHEMA), mode="append")
    written = Written(NO_SPARK, str(tmp_path), where)
    assert written.counted([ROWS, "views < 0", "not regexp_like(page, '^/')"]) == counts
