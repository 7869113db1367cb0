"""A job as a cluster gets it: writes a Delta table from both workers, reads it back, says who did the work."""

import json
import os
import sys

from penstock.lake.session import open_session
from penstock.settings import Settings

settings = Settings.from_env()
memory = {"spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.executor.cores": "1"}
# The workers start one after the other; tasks wait until both are there.
both = {"spark.scheduler.minRegisteredResourcesRatio": "1.0", "spark.cores.max": "2"}
spark = open_session(settings, "cluster", short=True, **memory, **both)


def executor(_: object) -> list[str]:
    return [os.environ["SPARK_EXECUTOR_DIRS"]]


spark.range(1_000).repartition(4).write.format("delta").save(settings.lake)
total = spark.read.format("delta").load(settings.lake).groupBy().sum("id").first()[0]
executors = spark.sparkContext.parallelize(range(4), 4).mapPartitions(executor).distinct().count()
sys.stdout.write(json.dumps({"total": total, "executors": executors}) + "\n")
spark.stop()
