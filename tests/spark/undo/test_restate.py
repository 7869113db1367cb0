"""After a restatement every view answers as if the facts had said it from the start; taken back, as before."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from toy_lake import Passed, ToyLake, answers, fact

from penstock.engine.restating import named
from penstock.engine.retraction import retract, settled
from penstock.lake.layout import Layout
from penstock.lake.retractions import Retraction
from penstock.model.domain import Domain

TOLD = [
    [("ann", 0, "look", 1), ("bob", 3, "buy", 60), ("ann", 4, "buy", 5)],
    [("ann", 9, "buy", 7), ("bob", 1450, "look", 2), ("ann", 1460, "buy", 3)],
    [("eve", 11, "look", 1), ("ann", 1470, "buy", 90)],
]


def lake_of(spark: SparkSession | None, folder: Path, toy: Domain, **amounts: int) -> ToyLake:
    """A lake that was told what each bought so many times over."""
    lake = ToyLake(spark, Layout(str(folder)), toy)
    for epoch in TOLD:
        times = [amounts.get(who, 1) if what == "buy" else 1 for who, _, what, _ in epoch]
        lake.epoch([fact(*one[:3], one[3] * many) for one, many in zip(epoch, times, strict=True)])
    return lake


def silver(lake: ToyLake) -> pa.Table:
    return DeltaTable(lake.layout.silver("r1", "toy.events")).to_pyarrow_table().sort_by("offset")


def restate(lake: ToyLake, operation: str, where: str, value: str = "", of: str = "") -> Retraction:
    source = lake.domain.sources[0]
    asked = named(lake.layout, operation, source, where, "", "", "amount", value, of, "test", "to see")
    told = settled(lake.layout, source, asked)
    assert lake.spark
    retract(lake.spark, lake.layout, source, told, lambda release: passes)
    return told


def passes(*_: Any) -> Passed:
    return Passed()


def test_a_restatement_and_the_half_of_it_that_is_taken_back(spark: SparkSession, toy: Domain, tmp_path: Path) -> None:
    lake = lake_of(spark, tmp_path / "lake", toy)
    before = silver(lake)
    one = restate(lake, "one", "what = 'buy'", "amount * 10")
    assert answers(lake) == answers(lake_of(None, tmp_path / "right", toy, ann=10, bob=10))
    restate(lake, "two", "who = 'ann'", of=one.id)
    assert answers(lake) == answers(lake_of(None, tmp_path / "half", toy, bob=10))
    # What was taken back is, in every column, as it was.
    ann = pa.compute.equal(before["who"], "ann")
    assert silver(lake).filter(ann).equals(before.filter(ann))
