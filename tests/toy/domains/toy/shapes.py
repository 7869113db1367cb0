"""Turns records of `toy.events` into dispositions."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

FIELDS = "event_id string, who string, what string, amount bigint, happened_at timestamp"


def shape(records: DataFrame) -> DataFrame:
    """One row a record: a fact, or a reason why it is none."""
    text = F.col("value").cast("string")
    happened_at = F.coalesce("event.happened_at", "received_at")
    return records.withColumns({"text": text, "event": F.from_json(text, FIELDS)}).select(
        "partition",
        "offset",
        F.coalesce("event_id", "event.event_id").alias("event_id"),
        F.least(happened_at, F.col("received_at")).alias("happened_at"),
        "received_at",
        "logged_at",
        "value",
        reason(happened_at).alias("reason"),
        F.when(happened_at > F.col("received_at"), F.array(F.lit("clamped"))).otherwise(F.array()).alias("flags"),
        "event.who",
        "event.what",
        "event.amount",
    )


def reason(happened_at: Column) -> Column:
    """Null for a fact; else the first rule that the record fails."""
    received_at = F.col("received_at")
    said = F.get_json_object("text", "$.happened_at")
    return (
        F.when(F.get_json_object("text", "$").isNull() | ~F.ltrim("text").startswith("{"), "malformed")
        .when(F.col("event.who").isNull(), "missing_who")
        .when(said.isNotNull() & F.col("event.happened_at").isNull(), "bad_happened_at")
        .when(happened_at < received_at - F.expr("interval 400 days"), "too_old")
        .when(happened_at > received_at + F.expr("interval 24 hours"), "in_future")
    )


SHAPES = {"toy.events": shape}
