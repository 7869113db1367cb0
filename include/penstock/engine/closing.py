"""Closing: duplicates judged over the whole history of ids, not only over the last 24 hours.

The stream remembers a day; a copy that came later is still a fact in silver. Among the facts that came since the last
time this finds such copies, makes duplicates of them (or collisions, where the content differs) in one commit, and
builds what is new and the days that lost a fact. Only then is the table exact, and its views whole, up to its newest
epoch: cut short it is done again.
"""

from collections.abc import Sequence
from datetime import date
from functools import partial

from delta.tables import DeltaTable as SparkTable
from deltalake import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from penstock.engine import silver
from penstock.engine.arrived import came, newest
from penstock.engine.build import Batch
from penstock.engine.overtaken import NOBODY, Quiet, committed
from penstock.engine.publish import Gate
from penstock.engine.retraction import rebuilt
from penstock.lake import exact
from penstock.lake.layout import Layout
from penstock.lake.retractions import REASON
from penstock.lake.statements import Statement
from penstock.model.domain import views_of
from penstock.model.source import Source

POSITION = ("partition", "offset")
# Rows that were facts until their day was closed; by this flag their days are found again after a crash.
LATE_COPY = "late_copy"
LOST = f"""
select distinct cast(happened_at as date) as day from rows
where epoch > $since and list_contains(coalesce(flags, []), '{LATE_COPY}') order by day
"""  # noqa: S608


def close(
    spark: SparkSession, layout: Layout, release: str, source: Source, gate: Gate, quiet: Quiet = NOBODY
) -> list[date]:
    """Makes a source exact up to its newest epoch. Returns the days that lost a fact and were built again."""
    path = layout.silver(release, source.name)
    since, until = exact.up_to(layout, release, source.name), newest(DeltaTable(path))
    if until <= since:
        return []
    demote(spark, path, since, until, quiet)
    lost = [day for (day,) in came(DeltaTable(path), since, LOST)]
    if lost:
        said = Statement(f"close_day/{until}", source.name, days=[str(day) for day in lost])
        rebuilt(spark, layout, release, source, said, gate)
    else:
        Batch(spark, layout, release, gate).build(views_of(source))
    exact.note(layout, release, source.name, until)
    return lost


def demote(spark: SparkSession, path: str, since: int, until: int, quiet: Quiet = NOBODY) -> None:
    """One commit, or none where every fact is the first of its id."""
    rows = SparkTable.forPath(spark, path)
    facts = rows.toDF().where((F.col("disposition") == silver.FACT) | (F.col("reason") == REASON))
    losers = repeated(facts, since, until).persist()
    try:
        days = [row.day for row in losers.select("day").distinct().orderBy("day").collect()]
        if days:
            committed(partial(_demoted, rows, losers, days), quiet)
    finally:
        losers.unpersist()


def repeated(facts: DataFrame, since: int, until: int) -> DataFrame:
    """Facts of these epochs whose id an earlier fact has; the stream's order decides which is earlier."""
    new = (F.col("epoch") > since) & (F.col("epoch") <= until)
    ids = facts.where(new).select("event_id").distinct()
    same_id = Window.partitionBy("event_id").orderBy("epoch", *POSITION)
    ranked = facts.join(ids, on="event_id", how="left_semi").select(
        *POSITION,
        "day",
        "epoch",
        "disposition",
        F.row_number().over(same_id).alias("nth"),
        (F.col("content_hash") == F.first("content_hash").over(same_id)).alias("same"),
    )
    return ranked.where((F.col("nth") > 1) & new & (F.col("disposition") == silver.FACT))


def _demoted(rows: SparkTable, losers: DataFrame, days: Sequence[date]) -> None:
    """Only the files of the days that lose a fact are read."""
    chosen = ", ".join(f"date'{day}'" for day in days)
    same = " and ".join(f"rows.`{name}` = losers.`{name}`" for name in POSITION)
    changes: dict[str, str | Column] = {
        "disposition": F.when(F.col("losers.same"), silver.DUPLICATE).otherwise(silver.REJECTED),
        "reason": F.when(~F.col("losers.same"), silver.ID_COLLISION),
        "flags": F.array_union(F.coalesce("rows.flags", F.array()), F.array(F.lit(LATE_COPY))),
        "day": F.to_date("rows.logged_at"),
    }
    merge = rows.alias("rows").merge(losers.alias("losers"), f"rows.day in ({chosen}) and {same}")
    merge.whenMatchedUpdate(set=changes).execute()
