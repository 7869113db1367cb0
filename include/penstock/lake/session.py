"""Opens a Spark session on the lake: every setting in one place, each with its reason."""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.settings import Settings

JARS = Path(sys.prefix, "share", "penstock", "jars", "spark")

SPARK = {
    # Days and hours are UTC everywhere; a reader's zone is a matter of presentation.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # 50 by default: a snapshot of a small table then costs 50 tasks, and an epoch four seconds.
    "spark.databricks.delta.snapshotPartitions": "1",
    # One checksum file more for each checkpoint file: a third of an epoch's time, for what Delta proves anyway.
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    # Epochs are small: as many shuffle partitions as cores; big builds are coalesced by adaptive execution.
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Only loopback is listened on, unless the cluster says otherwise.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
}


def open_session(settings: Settings, name: str, **more: str) -> SparkSession:
    """A session named for its job. `more` is for what only this job needs, underscores for dots."""
    # Workers must run the same Python as the driver, whatever `python3` is on PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(name).master(settings.spark_master)
    jars = ",".join(str(jar) for jar in sorted(JARS.glob("*.jar")))
    for key, value in {**SPARK, "spark.jars": jars, **more}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
