"""Every measure keeps the laws in Spark, and between Spark and the reader's engine."""

import os
from collections.abc import Mapping

import pyarrow as pa
import pytest
from laws import MEASURES, Aggregate, broken_laws, in_duckdb
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

FULL = os.environ.get("PENSTOCK_FULL")
# Ten thousand cases in full.
SEEDS, CASES = (range(2, 12), 1_000) if FULL else (range(2, 3), 100)


def in_spark(spark: SparkSession) -> Aggregate:
    def aggregate(rows: pa.Table, by: list[str], expressions: Mapping[str, str]) -> pa.Table:
        frame = spark.createDataFrame(rows).coalesce(1)
        columns = [F.expr(sql).alias(column) for column, sql in expressions.items()]
        return (frame.groupBy(*by).agg(*columns) if by else frame.agg(*columns)).toArrow()

    return aggregate


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("where", ["Spark alone", "Spark's partials in the reader", "local partials in Spark"])
def test_every_measure_keeps_the_laws(spark: SparkSession, where: str, seed: int) -> None:
    inside = in_spark(spark)
    partial = in_duckdb if where == "local partials in Spark" else inside
    merge, merges = (in_duckdb, "folds") if where == "Spark's partials in the reader" else (inside, "merges")
    # Spark cannot read the wheel's frequent items, and never has to: a build makes its partials from silver.
    measures = {name: each for name, each in MEASURES.items() if partial is inside or name != "top"}
    assert broken_laws(seed, CASES, partial, merge, merges, measures) == []
