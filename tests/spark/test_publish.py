"""What a build publishes when its candidate has no rows."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.engine import candidate
from penstock.engine.build import version
from penstock.engine.gate import GateResult
from penstock.engine.publish import Gate, Overtaken, Refused, audited, published
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


def judged(spark: SparkSession, layout: Layout, rows: DataFrame, days: list[date] | None, gate: Gate) -> dict[str, Any]:
    candidate.write(rows, path := candidate.fresh(layout, "r1", "toy.v"))
    return {"path": path, "said": audited(spark, layout, "r1", "toy.v", path, days, gate)}


def publish(spark: SparkSession, layout: Layout, views: list[int], days: list[date] | None, cut: int) -> None:
    rows = spark.createDataFrame([(None, DAY, "1 minute", each) for each in views], TYPES)
    stands = version(layout.gold("r1", "toy.v"))
    work = judged(spark, layout, rows, days, passes)
    said = Publication({"toy.events": cut}, "r1", [], work["said"])
    published(work["path"], layout.gold("r1", "toy.v"), days, said, stands)


def gold(spark: SparkSession, layout: Layout) -> list[int]:
    return [row.views for row in spark.read.format("delta").load(layout.gold("r1", "toy.v")).collect()]


def test_a_day_that_never_had_rows_needs_no_gate(spark: SparkSession, layout: Layout) -> None:
    nothing = spark.createDataFrame([], TYPES)
    assert judged(spark, layout, nothing, [DAY], refuses)["said"]["passed"]


def test_a_day_that_loses_its_rows_goes_through_the_gate(spark: SparkSession, layout: Layout) -> None:
    publish(spark, layout, [1], None, 1)
    with pytest.raises(Refused):
        judged(spark, layout, spark.createDataFrame([], TYPES), [DAY], refuses)


def test_a_build_that_touches_no_day_keeps_the_rows(spark: SparkSession, layout: Layout) -> None:
    publish(spark, layout, [1, 2], None, 1)
    publish(spark, layout, [], [], 2)
    assert sorted(gold(spark, layout)) == [1, 2]


@pytest.mark.parametrize("before", [0, 1], ids=["the first build", "a later one"])
def test_a_build_that_slept_while_another_published_changes_nothing(
    spark: SparkSession, layout: Layout, before: int
) -> None:
    for cut in range(before):
        publish(spark, layout, [9], [DAY], cut)
    gold_path = layout.gold("r1", "toy.v")
    stands = version(gold_path)
    slept = judged(spark, layout, spark.createDataFrame([(None, DAY, "1 minute", 7)], TYPES), [DAY], passes)["path"]
    Path(slept).rename(kept := f"{layout.root}/slept")
    publish(spark, layout, [1, 2], [DAY], 1)
    with pytest.raises(Overtaken):
        published(kept, gold_path, [DAY], Publication({"toy.events": 2}, "r1"), stands)
    assert sorted(gold(spark, layout)) == [1, 2]
