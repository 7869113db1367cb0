"""Streams of a test, tended as the driver tends its own."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from penstock.engine.progress import Progress
from penstock.engine.stream import Job, Stream
from penstock.settings import Settings

LOG_ORDER = [("partition", "ascending"), ("offset", "ascending")]


class Tended:
    """Streams of jobs, tended by a thread as the driver does."""

    def __init__(self, spark: SparkSession, settings: Settings, jobs: list[Job]) -> None:
        self.streams = [Stream(job, settings.kafka, settings.home, Progress(job.place.job, "r1")) for job in jobs]
        self._spark, self._over = spark, threading.Event()
        self._thread = threading.Thread(target=self._tend)

    def __enter__(self) -> "Tended":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for stream in self.streams:
            stream.stop()

    def _tend(self) -> None:
        while not self._over.wait(0.1):
            for stream in self.streams:
                stream.tend(self._spark, time.time())


def until(true: Callable[[], bool]) -> None:
    # The web's plan takes a minute to compile where six programs share two cores.
    limit = time.time() + 240
    while not true():
        assert time.time() < limit, "it never came true"
        time.sleep(0.1)


def rows(path: str, count: int) -> pa.Table:
    """The table's rows in the log's order, once there are so many."""
    until(lambda: Path(path, "_delta_log").exists() and len(DeltaTable(path).to_pyarrow_table()) >= count)
    return DeltaTable(path).to_pyarrow_table().sort_by(LOG_ORDER)
