"""What a build publishes when its candidate has no rows."""

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.engine.gate import GateResult
from penstock.engine.publish import Refused, audited, published
from penstock.lake.layout import Layout
from penstock.lake.publication import Publication

DAY = date(2026, 11, 18)
TYPES = "bucket timestamp, day date, width string, views bigint"


def refuses(rows: DataFrame, table: str) -> GateResult:
    """A gate through which nothing goes."""
    return GateResult(table, False, "it says no", ())


def passes(rows: DataFrame, table: str) -> GateResult:
    return GateResult(table, True, "", ())


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path))


def publish(spark: SparkSession, layout: Layout, views: list[int], days: list[date] | None, cut: int) -> None:
    rows = spark.createDataFrame([(None, DAY, "1 minute", each) for each in views], TYPES)
    said = audited(spark, layout, "r1", "toy.v", rows, days, passes)
    published(spark, layout, "r1", "toy.v", days, Publication({"toy.events": cut}, "r1", [], said))


def gold(spark: SparkSession, layout: Layout) -> list[int]:
    return [row.views for row in spark.read.format("delta").load(layout.gold("r1", "toy.v")).collect()]


def test_a_day_that_never_had_rows_needs_no_gate(spark: SparkSession, layout: Layout) -> None:
    nothing = spark.createDataFrame([], TYPES)
    assert audited(spark, layout, "r1", "toy.v", nothing, [DAY], refuses)["passed"]


def test_a_day_that_loses_its_rows_goes_through_the_gate(spark: SparkSession, layout: Layout) -> None:
    publish(spark, layout, [1], None, 1)
    with pytest.raises(Refused):
        audited(spark, layout, "r1", "toy.v", spark.createDataFrame([], TYPES), [DAY], refuses)


def test_a_build_that_touches_no_day_keeps_the_rows(spark: SparkSession, layout: Layout) -> None:
    publish(spark, layout, [1, 2], None, 1)
    publish(spark, layout, [], [], 2)
    assert sorted(gold(spark, layout)) == [1, 2]
