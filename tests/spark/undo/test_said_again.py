"""What people stated of records that are shaped again; and repairs while somebody else changes the same rows."""

import shutil
from collections.abc import Callable

import pytest
from delta.tables import DeltaTable as SparkTable
from pyspark.sql import SparkSession
from toy_log import ToyLog, said, silver

from penstock.engine import repair as repairing
from penstock.engine.matching import named as retracting
from penstock.engine.mending import mend_silver
from penstock.engine.repair import put, settled
from penstock.engine.retraction import mark
from penstock.engine.retraction import settled as retracted
from penstock.engine.shape import Shape
from penstock.lake.layout import Layout
from penstock.lake.repairs import Repair
from penstock.model.domain import Domain
from penstock.settings import Settings

BOB, EVE = b'{"whom": "bob", "amount": 2}', b'{"whom": "eve", "amount": 3}'
RENAME = Repair("p1", "toy.events", "missing_who", rename={"whom": "who"})


@pytest.fixture
def log(spark: SparkSession, toy: Domain, settings: Settings) -> ToyLog:
    """A live release with records that it had to reject."""
    log = ToyLog(spark, Layout(settings.lake))
    log.take([said("ann", id="a"), {"value": BOB, "id": "b"}, {"value": BOB, "id": "b"}, said(None, id="c")])
    log.take([{"value": EVE, "id": "e"}, said("zoe", id="z")])
    return log


@pytest.fixture
def shape(log: ToyLog, toy: Domain) -> Shape:
    return Shape(toy.sources[0], log.layout, "r1")


def repaired(spark: SparkSession, shape: Shape, asked: Repair = RENAME) -> int:
    return put(spark, shape, settled(spark, shape.layout, asked, lambda release: shape))


@pytest.mark.parametrize("revoked", [False, True], ids=["in force", "revoked"])
def test_silver_that_is_rebuilt_has_what_was_repaired_and_what_was_retracted_since(
    log: ToyLog, shape: Shape, spark: SparkSession, revoked: bool
) -> None:
    assert repaired(spark, shape) == 3
    # About a fact that was none before the repair.
    gone = retracted(log.layout, shape.source, retracting("one", shape.source, "who = 'eve'", "", "", ""))
    assert mark(spark, shape.place.table, shape.source, gone) == 1
    if revoked:
        repaired(spark, shape, Repair("p2", shape.source.name, of="p1"))
    before = silver(log, "r1")
    shutil.rmtree(shape.place.table)
    assert mend_silver(spark, shape, "rebuild/1") == 6
    assert silver(log, "r1").equals(before)
    assert before["disposition"].to_pylist().count("fact") == (2 if revoked else 3)


@pytest.mark.parametrize("when", ["before it looks", "after it looked"])
def test_a_row_that_was_erased_meanwhile_is_not_repaired(
    log: ToyLog, shape: Shape, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    asked = settled(spark, log.layout, RENAME, lambda release: shape)

    def erase() -> None:
        SparkTable.forPath(spark, shape.place.table).update("offset = 4", {"reason": "'erased'"})

    def beside(step: Callable[[], object], quiet: object) -> None:
        erase()
        step()

    def late(*of: object) -> repairing.Tried:
        told = looks(*of)
        erase()
        return told

    looks = repairing.tried
    if when == "before it looks":
        monkeypatch.setattr(repairing, "committed", beside)
    else:
        monkeypatch.setattr(repairing, "tried", late)
    put(spark, shape, asked)
    now = silver(log, "r1")
    assert now["reason"].to_pylist() == [None, None, None, "missing_who", "erased", None]
    assert now["disposition"].to_pylist() == ["fact", "fact", "duplicate", "rejected", "rejected", "fact"]
