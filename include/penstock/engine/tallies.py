"""A tally as Spark frames: partials of facts that are too many for the memory of one process."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.model.bucket import Bucket
from penstock.model.view import Sessions, Tally


def partials(tally: Tally, facts: DataFrame) -> DataFrame:
    """One row for each bucket and keys: how many facts, and the stored columns of each measure."""
    width = Bucket.of(tally.every)
    chosen = facts if isinstance(tally.of, Sessions) else facts.where(tally.of.where)
    stored = aggregates({name: measure.partials(name, tally.at) for name, measure in tally.measures.items()})
    placed = chosen.withColumn("_bucket", F.expr(width.spark(tally.at)))
    keyed = placed.groupBy("_bucket", *tally.by).agg(F.count(F.lit(1)).alias("facts"), *stored)
    shown = (name for name in keyed.columns if name != "_bucket")
    fixed = F.to_date("_bucket").alias("day"), F.lit(width.name).alias("width"), F.col("_bucket").alias("bucket")
    return keyed.select(*fixed, *shown)


def aggregates(stored: Mapping[str, Mapping[str, str]]) -> list[Column]:
    """The stored columns of some measures, each with its aggregate."""
    return [F.expr(sql).alias(column) for columns in stored.values() for column, sql in columns.items()]
