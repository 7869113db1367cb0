"""Views whose rows have no number are compared as well."""

from datetime import UTC, datetime

import duckdb
import pyarrow as pa

from domains.web.views import SAME
from penstock.serve.compare.changes import changed


def said(*pairs: str) -> pa.Table:
    rows = [{"a": a, "b": b, "event_id": f"{a}{b}", "at": datetime(2026, 3, 1, tzinfo=UTC)} for a, b in pairs]
    return pa.Table.from_pylist(rows)


def test_what_came_to_a_view_without_numbers_is_named() -> None:
    with duckdb.connect() as engine:
        told = changed(engine, SAME, SAME, said("uv"), said("uv", "xy"), set())
    assert (told.rows, told.added, told.lost, told.changed) == (2, 1, 0, 0)
    assert [(row["a"], row["b"]) for row in told.largest] == [("x", "y")]
