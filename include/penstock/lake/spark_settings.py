"""Every setting of a Spark job, each with its reason, for `python job.py` and for spark-submit alike.

Imports no pyspark: DAG files read these settings while they are parsed.
"""

import os
import sys
from pathlib import Path

from penstock.jvm import PYSPARK, QUICK, SHARE, mapped
from penstock.settings import SettingError, Settings

JARS = SHARE / "jars" / "spark"
# What S3A needs beside PySpark's own jars: fetched by `make s3`, and on no class path but that of a lake on a store.
STORE_JARS = SHARE / "jars" / "s3"
# Classes in the form in which the JVM maps them; made by `python -m penstock.lake.warmup`.
ARCHIVE = SHARE / "spark.jsa"

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
}

# Stock Delta and stock Spark let two processes write one version. These let one win; see docs/decisions/0020.
COMMITS = {
    "spark.delta.logStore.file.impl": "penstock.lake.LinkLogStore",
    "spark.delta.logStore.s3a.impl": "penstock.lake.PutLogStore",
    "spark.delta.logStore.s3.impl": "penstock.lake.PutLogStore",
    "spark.sql.streaming.checkpointFileManagerClass": "penstock.lake.CheckpointFiles",
}

S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"
STORE = {
    # s3:// and s3a:// are one store.
    "spark.hadoop.fs.s3.impl": S3A,
    "spark.hadoop.fs.s3a.impl": S3A,
    # A block waits in memory for its upload; epochs are small, and the disk of a driver may be none.
    "spark.hadoop.fs.s3a.fast.upload.buffer": "bytebuffer",
    # A conditional write is asked for by name (lake/java/Put.java), and must not be turned off beside it.
    "spark.hadoop.fs.s3a.create.conditional.enabled": "true",
}

LOCAL = {
    # Only loopback is listened on.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # A port and 100 MB for pages that Airflow and the console have already.
    "spark.ui.enabled": "false",
    # What a job on a small machine gets; a big build asks for more by name.
    "spark.driver.memory": "1g",
}

LOG_LEVELS = Path(__file__).with_name("log4j2.properties")
JVM = (
    f"-Dlog4j2.configurationFile={LOG_LEVELS}",
    # Few threads and a small footprint; on two cores it is no slower than G1 for heaps below 2 GB.
    "-XX:+UseSerialGC",
    # No file in /tmp for each JVM.
    "-XX:-UsePerfData",
)
# Where C2 is behind with its work, C1 does not slow code down by counting for it.
LONG_JVM = ("-XX:Tier3DelayOn=0", "-XX:Tier3DelayOff=0")
# With more, C2 has a core to itself, and nobody waits for it.
FEW_CORES = 4


def few_cores() -> bool:
    """Where C2 would take one core from those who work: docs/decisions/0043."""
    return (os.cpu_count() or 1) <= FEW_CORES


def on_one_machine(settings: Settings) -> bool:
    return settings.spark_master.startswith("local")


def spark_conf(settings: Settings, *, short: bool = False) -> dict[str, str]:
    """What a job runs with. `short`: Java's first compiler is enough for it, as for all that ends in seconds."""
    compiled = QUICK if short or settings.compiler == "quick" else LONG_JVM
    local = on_one_machine(settings)
    return {
        **SPARK,
        **COMMITS,
        **(LOCAL if local else _shipped(settings)),
        **(_store(settings) if on_store(settings) else {}),
        # Temporary files stay in the home; a killed job's are found there.
        "spark.local.dir": str(settings.home / "tmp"),
        "spark.sql.warehouse.dir": str(settings.home / "tmp" / "warehouse"),
        # Where shapes look up the keys of subjects: engine/unsealing.py.
        "spark.penstock.keys": str(settings.home / "keys"),
        # Workers run the driver's Python, whatever `python3` is on PATH.
        "spark.pyspark.python": sys.executable,
        # On the class path, jars are in the archive; `spark.jars` copies them and loads them apart from it.
        "spark.driver.extraClassPath": ":".join(f"{folder}/*" for folder in _folders(settings)),
        "spark.driver.extraJavaOptions": " ".join([*JVM, *compiled, *mapped(ARCHIVE)]),
    }


def pages(settings: Settings) -> dict[str, str]:
    """Spark's own pages for the streaming driver, where somebody wants them."""
    if not settings.spark_ui_port:
        return {}
    # Two jobs a second: more of them than a person reads would only fill the heap.
    few = {f"spark.{kind}": "200" for kind in ("ui.retainedJobs", "ui.retainedStages", "sql.ui.retainedExecutions")}
    # Airflow shows them as one of its pages.
    framed = f"http://127.0.0.1:{settings.airflow_port}"
    port = str(settings.spark_ui_port)
    return {"spark.ui.enabled": "true", "spark.ui.port": port, "spark.ui.allowFramingFrom": framed, **few}


def on_store(settings: Settings) -> bool:
    return settings.lake.startswith(("s3a://", "s3://"))


def _folders(settings: Settings) -> list[Path]:
    return [JARS, STORE_JARS] if on_store(settings) else [JARS]


def _shipped(settings: Settings) -> dict[str, str]:
    """Images of Kubernetes and nodes of YARN have the jars where they are here; other executors fetch them."""
    on_yarn = settings.spark_master == "yarn"
    at = "local://" if on_yarn or settings.spark_master.startswith("k8s://") else ""
    jars = [f"{at}{jar}" for folder in _folders(settings) for jar in sorted(folder.glob("*.jar"))]
    # Each submission would carry all of PySpark's to the cluster, 400 MB.
    own = {"spark.yarn.jars": f"local://{PYSPARK}/*"} if on_yarn else {}
    return {"spark.jars": ",".join(jars), **own}


def _store(settings: Settings) -> dict[str, str]:
    if not any(STORE_JARS.glob("hadoop-aws-*.jar")):
        raise SettingError(f"The lake is at {settings.lake} and Spark's jars for it are not here. Run `make s3` once.")
    # Amazon's own address follows from the region; any other store is one host with buckets as folders.
    other = {"endpoint": settings.store, "path.style.access": "true"} if settings.store else {}
    return {**STORE, **{f"spark.hadoop.fs.s3a.{name}": value for name, value in other.items()},
            "spark.hadoop.fs.s3a.endpoint.region": settings.store_region}  # fmt: skip
