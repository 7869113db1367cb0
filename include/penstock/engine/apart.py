"""What one task of Spark makes by itself: of Spark it has a process, and a driver that hears of its end."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

Task = Callable[[], Iterable[pa.RecordBatch]]


def apart(spark: SparkSession, task: Task, columns: str) -> DataFrame:
    """The rows of a task that reads what it needs by itself."""
    return spark.range(0, 1, 1, numPartitions=1).mapInArrow(partial(_alone, task), columns)


def _alone(task: Task, asked: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    # A worker that leaves what it was sent unread is not used again.
    for _ in asked:
        yield from task()
