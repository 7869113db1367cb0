"""Records of bronze on their way through a shape again.

Where the shape is one of tables, a task of Spark reads the files by itself: rows of Spark with headers in them, made of
Parquet and made Arrow again, took as long as to judge them (docs/decisions/0081-replay-in-large-epochs.md).
"""

from collections.abc import Iterator
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine.apart import Task
from penstock.engine.scope import Chunk, Scope
from penstock.engine.shape import Shape
from penstock.engine.shapes import LOGGED, collected, made_apart, planned_apart
from penstock.engine.unsealing import keys_of
from penstock.engine.versions import Table, dataset
from penstock.lake.records import COLUMNS
from penstock.lake.session import hands_of
from penstock.model.source import Source

# A task holds what is read ahead beside what it judges, and nobody says how large a record is.
ROWS_AT_ONCE = 10_000


def chunks(archive: Table, after: int, size: int) -> Iterator[Chunk]:
    """All of the archive after an epoch, whatever arrived when."""
    return Scope().chunks("", archive.path, archive.version, after, size)


def shaped(spark: SparkSession, shape: Shape, archive: Table, chunk: Chunk) -> pa.Table:
    """What the domain makes of a chunk's records."""
    if not shape.schemas() and (made := _apart(spark, shape.source, partial(_batches, archive, chunk))) is not None:
        return made
    return shape.shaped(records(spark, archive, chunk))


def _apart(spark: SparkSession, source: Source, read: Task) -> pa.Table | None:
    """By what needs nothing of Spark's: a process of this machine, or a task."""
    if hands := hands_of(spark):
        return made_apart(hands, keys_of(spark, source), source, read)
    apart = planned_apart(spark, source, read)
    return None if apart is None else collected(apart, source)


def records(spark: SparkSession, archive: Table, chunk: Chunk) -> DataFrame:
    """The records of a chunk, in the log's own columns."""
    stored = spark.read.format("delta").option("versionAsOf", archive.version).load(archive.path)
    return stored.where(F.col("epoch").between(chunk.after + 1, chunk.last)).select(*COLUMNS)


def _batches(archive: Table, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    wanted = (pc.field("epoch") > chunk.after) & (pc.field("epoch") <= chunk.last)
    told = {"columns": list(LOGGED), "filter": wanted, "batch_size": ROWS_AT_ONCE}
    yield from dataset(archive).scanner(**told, batch_readahead=2, fragment_readahead=1).to_batches()
