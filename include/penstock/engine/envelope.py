"""Reads the envelope (Kafka headers) of records into columns. Absent or wrong headers never throw."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TEXTS = ("event_id", "content_type", "schema_id", "user_agent", "client_address", "client_place", "consent")


def opened(records: DataFrame) -> DataFrame:
    """Records with their envelope's columns; `received_at` falls back to the log's own time."""
    received_at = F.timestamp_millis(header("received_at").try_cast("bigint"))
    return records.withColumns(
        {name: header(name) for name in TEXTS}
        | {"received_at": F.coalesce(received_at, F.col("timestamp")), "logged_at": F.col("timestamp")}
    )


def header(name: str) -> Column:
    """The first header of a name as text; null when there is none."""
    return header_bytes(name).cast("string")


def header_bytes(name: str) -> Column:
    """As it is on the log. Without `filter`, whose condition Spark interprets for each header of each record."""
    at = F.array_position("headers.key", F.lit(name)).cast("int") - 1
    return F.get(F.col("headers.value"), at)
