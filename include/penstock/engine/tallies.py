"""A tally as Spark frames: partials of facts, and partials of partials in wider buckets."""

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.model.bucket import Bucket, widths
from penstock.model.view import Sessions, Tally


def partials(tally: Tally, facts: DataFrame) -> DataFrame:
    """One row for each bucket and keys: how many facts, and the stored columns of each measure."""
    width = Bucket.of(tally.every)
    chosen = facts if isinstance(tally.of, Sessions) else facts.where(tally.of.where)
    stored = aggregates({name: measure.partials(name, tally.at) for name, measure in tally.measures.items()})
    keyed = chosen.groupBy(F.expr(width.spark(tally.at)).alias("bucket"), *tally.by)
    return _dated(keyed.agg(F.count(F.lit(1)).alias("facts"), *stored), width)


def merged(tally: Tally, rows: DataFrame, width: Bucket) -> DataFrame:
    """Partials in buckets of a wider width."""
    stored = aggregates({name: measure.merges(name) for name, measure in tally.measures.items()})
    keyed = rows.groupBy(F.expr(width.spark("bucket")).alias("bucket"), *tally.by)
    return _dated(keyed.agg(F.sum("facts").alias("facts"), *stored), width)


def all_widths(tally: Tally, own: DataFrame) -> DataFrame:
    """Partials in every width that gold keeps, made of those in the tally's own."""
    levels = [own]
    for width in widths(tally.every)[1:]:
        levels.append(merged(tally, levels[-1], width))
    return reduce(DataFrame.unionByName, levels)


def aggregates(stored: Mapping[str, Mapping[str, str]]) -> list[Column]:
    """The stored columns of some measures, each with its aggregate."""
    return [F.expr(sql).alias(column) for columns in stored.values() for column, sql in columns.items()]


def _dated(rows: DataFrame, width: Bucket) -> DataFrame:
    return rows.select(F.to_date("bucket").alias("day"), F.lit(width.name).alias("width"), *rows.columns)
