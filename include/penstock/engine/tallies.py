"""A tally as Spark frames: partials of facts, in as many widths as are asked for."""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.model.bucket import Bucket
from penstock.model.view import Sessions, Tally


def partials(tally: Tally, facts: DataFrame, kept: Sequence[Bucket] = ()) -> DataFrame:
    """One row for each bucket and keys: how many facts, and the stored columns of each measure. In the tally's own
    width, or in all that are kept: each fact then counts once in each, which is cheaper than to merge sketches."""
    chosen = facts if isinstance(tally.of, Sessions) else facts.where(tally.of.where)
    starts = (_start(width, tally.at) for width in kept or (Bucket.of(tally.every),))
    placed = chosen.selectExpr("*", f"inline(array({', '.join(starts)}))")
    stored = aggregates({name: measure.partials(name, tally.at) for name, measure in tally.measures.items()})
    keyed = placed.groupBy("_width", "_bucket", *tally.by).agg(F.count(F.lit(1)).alias("facts"), *stored)
    shown = (name for name in keyed.columns if name not in ("_width", "_bucket"))
    fixed = F.to_date("_bucket").alias("day"), F.col("_width").alias("width"), F.col("_bucket").alias("bucket")
    return keyed.select(*fixed, *shown)


def _start(width: Bucket, at: str) -> str:
    return f"named_struct('_width', '{width.name}', '_bucket', {width.spark(at)})"


def aggregates(stored: Mapping[str, Mapping[str, str]]) -> list[Column]:
    """The stored columns of some measures, each with its aggregate."""
    return [F.expr(sql).alias(column) for columns in stored.values() for column, sql in columns.items()]
