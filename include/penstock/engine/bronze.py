"""Records of bronze on their way through a shape again.

Where the shape is one of tables, a task of Spark or a process of this machine reads the files by itself: rows of Spark
with headers in them, made of Parquet and made Arrow again, took as long as to judge them
(docs/decisions/0081-replay-in-large-epochs.md).
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine.dispositions import JUDGED
from penstock.engine.scope import Chunk, Scope
from penstock.engine.shape import Shape
from penstock.engine.shapes import LOGGED, collected, planned_apart, put_apart
from penstock.engine.unsealing import keys_of
from penstock.engine.versions import Table, files
from penstock.lake.hands import Hands
from penstock.lake.place import batches
from penstock.lake.records import COLUMNS
from penstock.lake.session import hands_of
from penstock.lake.shared import Shared, got

T = TypeVar("T")

# A task holds what is read ahead beside what it judges, and nobody says how large a record is.
ROWS_AT_ONCE = 10_000


def chunks(archive: Table, after: int, size: int) -> Iterator[Chunk]:
    """All of the archive after an epoch, whatever arrived when."""
    return Scope().chunks("", archive.path, archive.version, after, size)


class Shaped(Protocol):
    """Records of a chunk as the domain says."""

    @property
    def judging(self) -> pa.Table:
        """What a judgement asks of them, at least."""

    def made(self, work: Callable[[pa.Table], T]) -> Callable[[], T]:
        """What becomes of all of it: made at once, or meanwhile by others, for whom whoever asks waits."""


@dataclass(frozen=True)
class Here:
    judging: pa.Table

    def made(self, work: Callable[[pa.Table], T]) -> Callable[[], T]:
        made = work(self.judging)
        return lambda: made


@dataclass(frozen=True)
class Apart:
    """With processes of this machine: rows of a thousand bytes need not come here to be judged by seven columns."""

    hands: Hands
    rows: Shared

    @cached_property
    def judging(self) -> pa.Table:
        return got(self.rows.path).select(JUDGED)

    def made(self, work: Callable[[pa.Table], T]) -> Callable[[], T]:
        return partial(self._result, self.hands.asked(partial(_of_all, work, self.rows.path)))

    def _result(self, made: Future[T]) -> T:
        """Of this object, so that it lives until then: its rows have a name for as long as it does."""
        return made.result()


def _of_all(work: Callable[[pa.Table], T], path: str) -> T:
    return work(got(path))


def shaped(spark: SparkSession, shape: Shape, archive: Table, chunk: Chunk) -> Shaped:
    """By what needs nothing of Spark's where that can be: processes of this machine, or a task."""
    source, read = shape.source, partial(_batches, archive, chunk)
    if not shape.schemas():
        if hands := hands_of(spark):
            rows = Shared(source.name)
            if (work := put_apart(rows.path, keys_of(spark, source), source, read)) is not None:
                hands.made(work)
                return Apart(hands, rows)
        elif (apart := planned_apart(spark, source, [read])) is not None:
            return Here(collected(apart, source))
    return Here(shape.shaped(records(spark, archive, chunk)))


def records(spark: SparkSession, archive: Table, chunk: Chunk) -> DataFrame:
    """The records of a chunk, in the log's own columns."""
    stored = spark.read.format("delta").option("versionAsOf", archive.version).load(archive.path)
    return stored.where(F.col("epoch").between(chunk.after + 1, chunk.last)).select(*COLUMNS)


def _batches(archive: Table, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """File by file, as they lie: who looks for epochs copies all that he finds, which takes as long as to read it."""
    epoch = pc.field("epoch")
    wanted = (epoch > chunk.after) & (epoch <= chunk.last)
    for file in files(archive):
        least, greatest = file.least.get("epoch"), file.greatest.get("epoch")
        if least is None or greatest is None:
            # Who wrote it did not say what is in it.
            least, greatest = -inf, inf
        if least <= chunk.last and greatest > chunk.after:
            whole = least > chunk.after and greatest <= chunk.last
            yield from batches(file.uri, LOGGED, ROWS_AT_ONCE, None if whole else wanted)
