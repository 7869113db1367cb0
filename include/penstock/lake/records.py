"""Bronze and the log as one: what bronze has is read there, and what came later is read from the log."""

import json
from collections.abc import Mapping
from functools import reduce

from confluent_kafka.admin import AdminClient
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.settings import Settings

Offsets = Mapping[int, int]
COLUMNS = ("key", "value", "headers", "partition", "offset", "timestamp")
# What Spark's reader of the log takes for "from the first that there is".
EARLIEST = -2


def records(
    spark: SparkSession, settings: Settings, source: str, start: Offsets | None = None, end: Offsets | None = None
) -> DataFrame:
    """A source's records from `start` up to but not including `end`, by partition; all that there are by default.

    The columns are the log's own, so that a replay cannot tell from where a record came.
    """
    path = Layout(settings.lake).bronze(source)
    archived: Offsets = {}
    old = None
    if open_table(path) is not None:
        bronze = spark.read.format("delta").load(path).select(*COLUMNS)
        # Fixed now: what is archived while we read must not come from both sides.
        archived = dict(map(tuple, bronze.groupBy("partition").agg(F.max("offset") + 1).collect()))
        old = bronze.where(within({}, archived))
    new = _log(spark, settings.kafka, source, archived)
    return (old.unionByName(new) if old is not None else new).where(within(start or {}, end or {}))


def within(start: Offsets, end: Offsets) -> Column:
    """Whether a record is in a range; a partition that a side does not name is open on that side."""
    partition, offset = F.col("partition"), F.col("offset")
    after = [(partition != part) | (offset >= first) for part, first in start.items()]
    before = [(partition != part) | (offset < stop) for part, stop in end.items()]
    return reduce(Column.__and__, [*after, *before], F.lit(True))


def _log(spark: SparkSession, kafka: str, source: str, archived: Offsets) -> DataFrame:
    """What the log has after the archived offsets. It fails, and says so, where retention has left a gap."""
    topic = AdminClient({"bootstrap.servers": kafka, "log_level": 0}).list_topics(source, timeout=10).topics[source]
    options = {
        "kafka.bootstrap.servers": kafka,
        "subscribe": source,
        "includeHeaders": "true",
        "failOnDataLoss": "true",
        "startingOffsets": json.dumps({source: {str(part): archived.get(part, EARLIEST) for part in topic.partitions}}),
    }
    return spark.read.format("kafka").options(**options).load().select(*COLUMNS)
