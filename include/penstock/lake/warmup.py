"""`python -m penstock.lake.warmup` keeps the classes of a usual job ready: the next JVM maps them instead of loading.

Run once at set-up, and again when jars or Java change. Without it everything works, with a slower start.
"""

import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.jvm import QUICK, QUIET
from penstock.lake.session import open_session
from penstock.lake.spark_settings import ARCHIVE, JVM
from penstock.settings import Settings


def usual_job(spark: SparkSession, folder: Path) -> None:
    """Touches what most jobs touch: a Delta table written by days, replaced, streamed, aggregated."""
    table = str(folder / "table")
    rows = spark.range(1_000).select("id", F.current_date().alias("day"), (F.col("id") % 7).alias("key"))
    rows.write.format("delta").partitionBy("day").save(table)
    rows.write.format("delta").mode("overwrite").option("replaceWhere", "day > '2000-01-01'").save(table)
    stream = spark.readStream.format("delta").option("ignoreChanges", "true").load(table)
    writer = stream.writeStream.format("delta").option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start(str(folder / "copy")).awaitTermination()
    spark.read.format("delta").load(table).groupBy("key").agg(F.count("*"), F.sum("id")).orderBy("key").collect()


def main() -> None:
    with tempfile.TemporaryDirectory(dir=ARCHIVE.parent, prefix="warmup-") as name:
        home = Path(name)
        draft = home / "spark.jsa"
        options = " ".join([*JVM, *QUICK, f"-XX:ArchiveClassesAtExit={draft}", *QUIET])
        settings = Settings(home=home, lake=str(home), kafka="", spark_master="local[2]")
        spark = open_session(settings, "warmup", short=True, **{"spark.driver.extraJavaOptions": options})
        usual_job(spark, home)
        end(spark)
        draft.rename(ARCHIVE)


def end(spark: SparkSession) -> None:
    """The JVM writes the archive when it ends, and it ends when we close its input."""
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    gateway.proc.stdin.close()
    gateway.proc.wait()


if __name__ == "__main__":
    main()
