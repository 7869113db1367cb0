"""Who is erased is in no byte of the lake, and in no number; everybody else is as before."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import searching
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from sealed_log import SealedLog
from toy_lake import Passed, ToyLake
from toy_log import said

from penstock.engine import erasure
from penstock.engine.erasure import erase
from penstock.engine.mending import mend_views
from penstock.engine.pinning import take
from penstock.engine.posting import post
from penstock.engine.rewind import rewind
from penstock.engine.theirs import asked
from penstock.keys.store import Keys
from penstock.lake.layout import Layout
from penstock.lake.ledger import booked
from penstock.lake.releases import RETIRED, Release, say
from penstock.model.domain import Domain
from penstock.settings import Settings

CANARY = "canary-"
CANARIES = [f"{CANARY}{number:04}" for number in range(40)]


@pytest.fixture
def sealed(spark: SparkSession, settings: Settings, toy: Domain) -> Iterator[SealedLog]:
    before = spark.conf.get("spark.penstock.keys")
    spark.conf.set("spark.penstock.keys", str(settings.home / "keys"))
    yield SealedLog(spark, Layout(settings.lake), home=settings.home)
    spark.conf.set("spark.penstock.keys", before)


def tokens(settings: Settings, names: list[str]) -> str:
    return " ".join(token.hex() for token in Keys.of_home(settings.home).tokens("toy", names).values())


def passes(*_: Any) -> Passed:
    return Passed()


def test_every_canary_is_gone_from_every_byte_and_no_rewind_brings_one_back(
    sealed: SealedLog, lake: ToyLake, settings: Settings, spark: SparkSession
) -> None:
    others = [said(f"v{number % 5}", "look", number, id=f"o{number}") for number in range(50)]
    planted = [said(name, "buy", number, id=f"c{number}") for number, name in enumerate(CANARIES)]
    sealed.take([*others[:25], *planted[:20]])
    lake.build()
    point = take(lake.layout, "hand", "test", "with canaries")
    sealed.take([*others[25:], *planted[20:], planted[0]])
    stands_still(lake.layout, "r2")
    assert len(searching.below(settings.home / "lake", CANARY)) == 40
    assert not searching.below(settings.home / "lake" / "bronze", CANARY)

    wanted = asked("toy", tokens(settings, CANARIES), "erase/1", "test", "they asked")
    (done,), _ = erase(lambda: spark, settings, wanted, lambda release: passes)

    assert (done.records, done.facts) == (41, {"r1": [90, 40], "r2": [90, 40]})
    assert searching.below(settings.home, CANARY) == {}
    assert [counted(lake.layout, release) for release in ("r1", "r2")] == [(50, 41)] * 2
    assert books(lake) == (50, 41)
    assert sum(row["events"] for row in lake.rows("toy.events_by_what")) == 50

    went = rewind(lake.layout, point, "toy", "test", "before the second epoch")
    mend_views(spark, lake.layout, "r1", lake.domain.sources[0], passes)
    assert searching.below(settings.home, CANARY) == {}
    assert sum(row["events"] for row in lake.rows("toy.events_by_what")) == 25
    assert went.done


@pytest.mark.parametrize("step", ("settled", "post", "rebuilt", "purge"))
def test_an_erasure_that_was_killed_does_what_is_left(
    sealed: SealedLog, settings: Settings, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    sealed.take([said("canary-0001", id="c1"), said("ann", id="o1")])
    silver, built = sealed.layout.silver("r1", "toy.events"), []
    wanted = asked("toy", tokens(settings, ["canary-0001"]), "erase/1", "test", "they asked")

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(erasure, "rebuilt", lambda *asked: built.append(list(asked[4].days)) or [])
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(erasure, step, killed)
        erase(lambda: spark, settings, wanted, lambda release: passes)
    assert Keys.of_home(settings.home).tokens("toy", ["canary-0001"]) == {}
    (done,), _ = erase(lambda: spark, settings, wanted, lambda release: passes)
    assert (done.records, done.facts, built[-1]) == (1, {"r1": [2, 1]}, ["2026-03-02"])
    assert sorted(str(row) for row in DeltaTable(silver).to_pyarrow_table()["who"].to_pylist()) == ["None", "ann"]
    assert searching.below(Path(silver), CANARY) == {}


def stands_still(layout: Layout, release: str) -> None:
    """One more release of the same facts, which was retired: nobody keeps it up, and it has them all the same."""
    for tier in ("silver", "gold", "speed"):
        shutil.copytree(f"{layout.root}/{tier}/r1", f"{layout.root}/{tier}/{release}")
    say(layout, Release("toy", release, RETIRED))


def counted(layout: Layout, release: str) -> tuple[int, int]:
    """Facts, and rows that were erased."""
    rows = DeltaTable(layout.silver(release, "toy.events")).to_pyarrow_table().to_pydict()
    return rows["disposition"].count("fact"), rows["reason"].count("erased")


def books(lake: ToyLake) -> tuple[int, int]:
    """Facts and rejected, as the ledger has them."""
    post(lake.layout, (lake.domain.sources[0],), "r1")
    sums, _ = booked(lake.layout.ledger(), "r1")
    return sum(row["facts"] for row in sums.values()), sum(row["rejected"] for row in sums.values())
