"""Current rows as Spark frames: of each key the columns of its latest fact, whatever order facts come in."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.model.view import Latest

WIDTH = "latest"
# A current row has no day of its own; all of them are replaced together.
DAY = "date'1970-01-01'"


def current(latest: Latest, facts: DataFrame) -> DataFrame:
    """The latest of these facts for each key. Equal times are decided by value, so that order never matters."""
    chosen = facts.where(latest.of.where)
    row = F.struct(F.col(latest.at).alias("at"), *latest.columns)
    return _dated(latest, chosen.groupBy(*latest.key).agg(F.count(F.lit(1)).alias("facts"), F.max(row).alias("row")))


def merged(latest: Latest, rows: DataFrame) -> DataFrame:
    """The latest of these current rows for each key."""
    boxed = rows.withColumn("row", F.struct("at", *latest.columns))
    return _dated(latest, boxed.groupBy(*latest.key).agg(F.sum("facts").alias("facts"), F.max("row").alias("row")))


def _dated(latest: Latest, rows: DataFrame) -> DataFrame:
    return rows.select(F.expr(DAY).alias("day"), F.lit(WIDTH).alias("width"), *latest.key, "facts", "row.*")
