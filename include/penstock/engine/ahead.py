"""A session that a build will need, opened while it still asks what came: docs/decisions/0059."""

from collections.abc import Iterator
from threading import Thread

import pyarrow as pa
from pyspark.sql import SparkSession

# What tasks count with: whoever unpickles a function of this module has imported it.
from penstock.engine import daily  # noqa: F401


def opened(spark: SparkSession) -> Thread:
    """Has the session open, and its workers import what they count with, beside what else is done."""
    beside = Thread(target=_ready, args=(spark,), name="session")
    beside.start()
    return beside


def _ready(spark: SparkSession) -> None:
    tasks = spark.sparkContext.defaultParallelism
    spark.range(0, tasks, numPartitions=tasks).mapInArrow(_back, "id long").count()


def _back(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches
