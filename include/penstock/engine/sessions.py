"""Sessions as Spark frames: mini-sessions of facts, and neighbours stitched into one.

Stitching is associative: minis of any partition of the facts, stitched in any order, give the same sessions.
"""

from collections.abc import Mapping
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from penstock.engine.tallies import aggregates
from penstock.model.bucket import Bucket
from penstock.model.view import Sessions

WIDTH = "session"


def minis(sessions: Sessions, facts: DataFrame) -> DataFrame:
    """The sessions that these facts alone make."""
    at = F.col(sessions.at)
    moments = facts.where(sessions.of.where).withColumns({"started": at, "ended": at})
    stored = {name: measure.partials(name, sessions.at) for name, measure in sessions.measures.items()}
    return _joined(sessions, moments, F.count(F.lit(1)), stored)


def stitched(sessions: Sessions, rows: DataFrame) -> DataFrame:
    """Neighbours of a key, less than the gap apart, as one session."""
    stored = {name: measure.merges(name) for name, measure in sessions.measures.items()}
    return _joined(sessions, rows, F.sum("facts"), stored)


def touched_days(sessions: Sessions, gold: DataFrame, fresh: DataFrame) -> DataFrame:
    """The days whose sessions these new minis change: their own, and those of the sessions that they join."""
    near = F.expr(f"interval {Bucket.of(sessions.gap).seconds} seconds")
    news = fresh.groupBy(*sessions.key).agg(F.min("started").alias("from"), F.max("ended").alias("to"))
    # Keys may be null, and null is a key like any other.
    same = reduce(and_, (gold[name].eqNullSafe(news[name]) for name in sessions.key))
    close = (F.col("ended") + near > F.col("from")) & (F.col("started") - near < F.col("to"))
    return gold.join(news, on=same & close, how="inner").select(gold["day"]).union(fresh.select("day"))


def _joined(sessions: Sessions, rows: DataFrame, facts: Column, stored: Mapping[str, Mapping[str, str]]) -> DataFrame:
    in_order = Window.partitionBy(*sessions.key).orderBy("started")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    gap = F.expr(f"interval {Bucket.of(sessions.gap).seconds} seconds")
    silent = F.col("started") >= F.max("ended").over(before) + gap
    islands = rows.withColumn("_new", F.coalesce(silent, F.lit(False)).cast("int")).withColumn(
        # Those that started at one moment are on one island, whichever of them was new.
        "_island",
        F.sum("_new").over(in_order.rangeBetween(Window.unboundedPreceding, Window.currentRow)),
    )
    joined = islands.groupBy(*sessions.key, "_island").agg(
        F.min("started").alias("started"), F.max("ended").alias("ended"), facts.alias("facts"), *aggregates(stored)
    )
    first = [F.to_date("started").alias("day"), F.lit(WIDTH).alias("width"), F.col("started").alias("bucket")]
    return joined.drop("_island").select(*first, "*")
