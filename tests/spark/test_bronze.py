"""Records of bronze through the web's shape: a task that reads files by itself gives what Spark's own reader would."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from domains.web.model import EVENTS
from penstock.engine import bronze, shapes
from penstock.engine.archive import BRONZE, INDEXED
from penstock.engine.commit import Tables
from penstock.engine.scope import Chunk
from penstock.engine.shape import Shape
from penstock.engine.versions import table
from penstock.lake.layout import Layout

ARRIVED = datetime(2026, 11, 18, 23, 59, tzinfo=UTC)
VIEWED = {"type": "pageview", "site": "a.example", "visitor": "v1", "url": "https://a.example/x"}
VALUES = [json.dumps(VIEWED).encode(), None, b"", b"\xff", b'{"nope', b"[]"]
# Epochs of this many records, of which the chunk has two.
EPOCH = 4
CHUNK = Chunk(after=0, last=2, records=2 * EPOCH)


@pytest.fixture
def shape(tmp_path: Path) -> Shape:
    """Over bronze of four epochs."""
    made = Shape(EVENTS, Layout(str(tmp_path / "lake")), "r2")
    archive = Tables().of(made.layout.bronze(EVENTS.name), BRONZE, INDEXED)
    for epoch in range(4):
        archive.append(records(epoch), "archive", epoch)
    return made


def records(epoch: int) -> pa.Table:
    rows = [
        {
            "value": VALUES[offset % len(VALUES)],
            "headers": [{"key": "event_id", "value": str(offset).encode()}] if offset % 2 else None,
            "partition": 0,
            "offset": offset,
            "timestamp": ARRIVED,
            "day": ARRIVED.date(),
            "epoch": epoch,
        }
        for offset in range(epoch * EPOCH, (epoch + 1) * EPOCH)
    ]
    return pa.Table.from_pylist(rows, BRONZE)


def test_a_task_that_reads_bronze_by_itself_gives_the_rows_of_sparks_reader(
    spark: SparkSession, shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "TOGETHER", 3)
    archive = table(DeltaTable(shape.layout.bronze(EVENTS.name)))
    expected = shape.shaped(bronze.records(spark, archive, CHUNK)).sort_by("offset")
    assert expected["offset"].to_pylist() == list(range(EPOCH, 3 * EPOCH))
    assert bronze.shaped(spark, shape, archive, CHUNK).sort_by("offset").equals(expected)
