"""Opens a Spark session on the lake."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, cast

from pyspark import SparkContext
from pyspark.sql import SparkSession

from penstock.lake.hands import Hands
from penstock.lake.spark_settings import spark_conf
from penstock.settings import Settings


def session_of(code: Path | None) -> dict[str, str]:
    """What a session needs whose Python workers must import a release's own code."""
    return {"spark.executorEnv.PYTHONPATH": str(code)} if code else {}


def jvm_of(spark: SparkSession) -> int:
    """The process id of the session's JVM: spark-submit's own, or one that Python started."""
    assert spark.sparkContext._jvm is not None
    return int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())


def give_way(process: int, niceness: int = 10) -> None:
    """Lets others on this machine go first.

    Linux knows priorities of threads, and new ones have their maker's. Who gives way more already stays there.
    """
    tasks = Path("/proc", str(process), "task")
    for thread in tasks.iterdir() if tasks.is_dir() else ():
        with suppress(ProcessLookupError, FileNotFoundError):
            if os.getpriority(os.PRIO_PROCESS, int(thread.name)) < niceness:
                os.setpriority(os.PRIO_PROCESS, int(thread.name), niceness)


def open_session(settings: Settings, name: str, *, short: bool = False, **more: str) -> SparkSession:
    """A session named for its job; `short` as `spark_conf` has it; `more` is what only this job needs."""
    # `spark.pyspark.python` is read by spark-submit only; a session opened from Python reads this.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(name).master(settings.spark_master)
    for key, value in {**spark_conf(settings, short=short), **more}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def presented(settings: Settings) -> None:
    """YARN takes a driver that ends well, and never opened a session, for one that failed: this one is for it alone."""
    if settings.spark_master == "yarn" and SparkContext._gateway is None:
        open_session(settings, "presented", short=True).stop()


class Unopened:
    """Stands for a session until somebody asks it for anything, and opens it then: few rows need no Spark.

    `hands`: who does instead what a task would make by itself. `conf`: what may be asked of it unopened.
    """

    def __init__(
        self, opening: Callable[[], SparkSession], hands: Hands | None = None, conf: Mapping[str, str] | None = None
    ) -> None:
        self._opening = opening
        self._lock = Lock()
        self.hands = hands
        if conf is not None:
            self.conf = conf

    @cached_property
    def _opened(self) -> SparkSession:
        return self._opening()

    def __getattr__(self, name: str) -> Any:
        # Views are built at once, and Python's cached properties have no lock.
        with self._lock:
            opened = self._opened
        return getattr(opened, name)


def once_needed(
    opening: Callable[[], SparkSession], hands: Hands | None = None, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """A session that costs nothing where no step of a job needs it."""
    return cast(SparkSession, Unopened(opening, hands, conf))


def hands_of(spark: SparkSession) -> Hands | None:
    """Who works without Spark, if anybody does."""
    return spark.hands if isinstance(spark, Unopened) else None


def at_once(spark: SparkSession) -> int:
    """How many tasks have a core each."""
    own = hands_of(spark)
    return own.number if own else int(spark.sparkContext.defaultParallelism)
