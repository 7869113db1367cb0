"""Opens a Spark session on the lake."""

from pyspark.sql import SparkSession

from penstock.lake.spark_settings import spark_conf
from penstock.settings import Settings


def open_session(settings: Settings, name: str, *, short: bool = False, **more: str) -> SparkSession:
    """A session named for its job; `short` for jobs of seconds; `more` is what only this job needs."""
    builder = SparkSession.builder.appName(name).master(settings.spark_master)
    for key, value in {**spark_conf(settings, short=short), **more}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
