"""Opens a Spark session on the lake."""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.lake.spark_settings import spark_conf
from penstock.settings import Settings


def session_of(code: Path | None) -> dict[str, str]:
    """What a session needs whose Python workers must import a release's own code."""
    return {"spark.executorEnv.PYTHONPATH": str(code)} if code else {}


def open_session(settings: Settings, name: str, *, short: bool = False, **more: str) -> SparkSession:
    """A session named for its job; `short` for jobs of seconds; `more` is what only this job needs."""
    # `spark.pyspark.python` is read by spark-submit only; a session opened from Python reads this.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(name).master(settings.spark_master)
    for key, value in {**spark_conf(settings, short=short), **more}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
