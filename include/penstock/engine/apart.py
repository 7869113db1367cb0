"""What tasks of Spark make by themselves: of Spark they have a process each, and a driver that hears of their end."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

Task = Callable[[], Iterable[pa.RecordBatch]]


def apart(spark: SparkSession, tasks: Sequence[Task], columns: str) -> DataFrame:
    """The rows of tasks that read what they need by themselves, those of the first one first."""
    return spark.range(0, len(tasks), 1, numPartitions=len(tasks)).mapInArrow(partial(_alone, tasks), columns)


def _alone(tasks: Sequence[Task], asked: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    keep_imports()
    # A worker that leaves what it was sent unread is not used again.
    for batch in asked:
        for number in batch["id"].to_pylist():
            yield from tasks[number]()


@cache
def keep_imports() -> None:
    """A worker of Spark's looks for garbage after each task, among all that it ever imported: 20 ms, as long as to read
    10,000 records. What there is when its first task begins is there for good."""
    gc.freeze()
