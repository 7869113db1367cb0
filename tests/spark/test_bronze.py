"""Records of bronze through the web's shape: a task that reads files by itself gives what Spark's own reader would."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from domains.web.model import EVENTS
from penstock.engine import bronze, releasing, shapes
from penstock.engine.archive import BRONZE, INDEXED
from penstock.engine.commit import Tables
from penstock.engine.dispositions import JUDGED
from penstock.engine.scope import Chunk
from penstock.engine.shape import Shape
from penstock.engine.versions import Table, table
from penstock.lake.layout import Layout
from penstock.settings import Settings

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


@pytest.fixture
def of_spark(spark: SparkSession, shape: Shape) -> pa.Table:
    """What Spark's own reader and its tasks make of the chunk."""
    rows = shape.shaped(bronze.records(spark, newest(shape), CHUNK)).sort_by("offset")
    assert rows["offset"].to_pylist() == list(range(EPOCH, 3 * EPOCH))
    return rows


def newest(shape: Shape) -> Table:
    return table(DeltaTable(shape.layout.bronze(EVENTS.name)))


def test_a_task_that_reads_bronze_by_itself_gives_the_rows_of_sparks_reader(
    spark: SparkSession, shape: Shape, of_spark: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "TOGETHER", 3)
    shaped = bronze.shaped(spark, shape, newest(shape), CHUNK)
    assert shaped.judging.sort_by("offset").equals(of_spark)
    assert shaped.made(len)() == of_spark.num_rows


def test_processes_of_this_machine_make_the_same_rows_and_tell_what_a_judgement_asks(
    shape: Shape, of_spark: pa.Table, settings: Settings
) -> None:
    with releasing.session(settings, "web", Path(), 2) as own:
        shaped = bronze.shaped(own, shape, newest(shape), CHUNK)
        assert shaped.judging.sort_by("offset").equals(of_spark.select(JUDGED))
        # Whoever waits for the rows may be the last who knows of them.
        made = shaped.made(lambda rows: rows.sort_by("offset"))
        del shaped
        assert made().equals(of_spark)
