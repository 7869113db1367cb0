"""Closing a day: duplicates judged over the whole history of ids, not only over the last 24 hours.

The stream remembers a day; a copy that came later is still a fact in silver. This finds such facts, makes duplicates of
them (or collisions, where the content differs) in one commit, and says whose views must be built again.
"""

from datetime import date

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from penstock.engine import silver
from penstock.lake.retractions import REASON

POSITION = ("partition", "offset")


def close(spark: SparkSession, table: str, arrived: date) -> list[date]:
    """Makes what was logged on a day exact. Returns the days that lost a fact: none, if it is run again."""
    rows = DeltaTable.forPath(spark, table)
    facts = rows.toDF().where((F.col("disposition") == silver.FACT) | (F.col("reason") == REASON))
    losers = repeated(facts, arrived).persist()
    try:
        days = [row.day for row in losers.select("day").distinct().orderBy("day").collect()]
        if days:
            _demote(rows, losers, days)
        return days
    finally:
        losers.unpersist()


def repeated(facts: DataFrame, arrived: date) -> DataFrame:
    """Facts logged on a day whose id an earlier fact has; the stream's order decides which is earlier."""
    ids = facts.where(F.to_date("logged_at") == F.lit(arrived)).select("event_id").distinct()
    same_id = Window.partitionBy("event_id").orderBy("epoch", *POSITION)
    ranked = facts.join(ids, on="event_id", how="left_semi").select(
        *POSITION,
        "day",
        "logged_at",
        "disposition",
        F.row_number().over(same_id).alias("nth"),
        (F.col("content_hash") == F.first("content_hash").over(same_id)).alias("same"),
    )
    later = ranked.where((F.col("nth") > 1) & (F.to_date("logged_at") == F.lit(arrived)))
    return later.where(F.col("disposition") == silver.FACT)


def _demote(rows: DeltaTable, losers: DataFrame, days: list[date]) -> None:
    """One commit; only the files of the days that lose a fact are read."""
    chosen = ", ".join(f"date'{day}'" for day in days)
    same = " and ".join(f"rows.`{name}` = losers.`{name}`" for name in POSITION)
    changes: dict[str, str | Column] = {
        "disposition": F.when(F.col("losers.same"), silver.DUPLICATE).otherwise(silver.REJECTED),
        "reason": F.when(~F.col("losers.same"), silver.ID_COLLISION),
        "day": F.to_date("rows.logged_at"),
    }
    merge = rows.alias("rows").merge(losers.alias("losers"), f"rows.day in ({chosen}) and {same}")
    merge.whenMatchedUpdate(set=changes).execute()
