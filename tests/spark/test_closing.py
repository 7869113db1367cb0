"""A closed day has each event id once, however far apart the copies came; closing it again changes nothing."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from penstock.engine import silver
from penstock.engine.closing import close
from penstock.engine.commit import Appender, create
from penstock.model.domain import source

EVENTS = source("web.identities")
LOGGED = {1: datetime(2026, 3, 1, 12, tzinfo=UTC), 2: datetime(2026, 3, 9, 12, tzinfo=UTC)}


def fact(epoch: int, offset: int, event_id: str, content: int) -> dict[str, Any]:
    at = LOGGED[epoch]
    known = {"partition": 0, "offset": offset, "epoch": epoch, "event_id": event_id, "content_hash": content}
    times = {"happened_at": LOGGED[1], "received_at": at, "logged_at": at, "day": LOGGED[1].date()}
    return {**known, **times, "disposition": silver.FACT, "flags": []}


@pytest.fixture
def table(tmp_path: Path, spark: SparkSession) -> str:
    path, columns = str(tmp_path / "silver"), silver.schema(EVENTS)
    create(path, columns, silver.INDEXED)
    first = [fact(1, 0, "a", 1), fact(1, 1, "b", 2)]
    later = [fact(2, 2, "a", 1), fact(2, 3, "b", 9), fact(2, 4, "c", 3)]
    for epoch, rows in enumerate((first, later), 1):
        Appender(path).append(pa.Table.from_pylist(rows, columns), "query", epoch)
    return path


def test_late_copies_become_duplicates_and_collisions(spark: SparkSession, table: str) -> None:
    assert close(spark, table, date(2026, 3, 9)) == [date(2026, 3, 1)]
    rows = DeltaTable(table).to_pyarrow_table().sort_by("offset")
    assert rows["disposition"].to_pylist() == ["fact", "fact", "duplicate", "rejected", "fact"]
    assert rows["reason"].to_pylist() == [None, None, None, "id_collision", None]
    assert close(spark, table, date(2026, 3, 9)) == []
