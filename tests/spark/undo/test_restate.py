"""After a restatement every view answers as if the facts had said it from the start; taken back, as before."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from toy_lake import Passed, ToyLake, answers, fact

from penstock.engine import retraction
from penstock.engine.matching import about
from penstock.engine.restating import named
from penstock.engine.retraction import mark, retract, settled
from penstock.lake.layout import Layout
from penstock.lake.retractions import Restatement, Retraction
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


def test_two_that_are_stated_at_once_of_the_same_rows_both_hold(
    spark: SparkSession, toy: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, source = ToyLake(spark, Layout(str(tmp_path / "lake")), toy), toy.sources[0]
    lake.epoch([fact("ann", 0, "buy", 1), fact("bob", 3, "look", 2), fact("eve", 4, "buy", 3)])
    path = lake.layout.silver("r1", source.name)
    tens = Restatement("s1", source.name, "what = 'buy'", field="amount", value="amount * 10")
    others = [
        Restatement("s2", source.name, "who = 'ann'", field="amount", value="amount + 1"),
        Restatement("s3", source.name, "who = 'eve'", field="what", value="'look'"),
    ]

    def overtaken(*asked: Any) -> pa.Table:
        picked = about(*asked)
        while others:
            mark(spark, path, source, others.pop(0))
        return picked

    monkeypatch.setattr(retraction, "about", overtaken)
    mark(spark, path, source, tens)
    told = silver(lake).select(["what", "amount", "flags"]).to_pylist()
    assert told == [
        {"what": "buy", "amount": 20, "flags": ["restated:s2:amount=1", "restated:s1:amount=2"]},
        {"what": "look", "amount": 2, "flags": []},
        {"what": "look", "amount": 3, "flags": ["restated:s3:what=buy"]},
    ]
