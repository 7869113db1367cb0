"""After a retraction every view answers as if the facts had never been told; taken back, as if nothing had happened."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame
from toy_lake import Passed, ToyLake, answers, fact

from penstock.engine import retraction
from penstock.engine.build import Built
from penstock.engine.matching import named
from penstock.engine.posting import post
from penstock.engine.retraction import retract, settled
from penstock.lake.layout import Layout
from penstock.lake.ledger import booked
from penstock.lake.retractions import RETRACTIONS
from penstock.model.domain import Domain

TOLD = [
    [fact("ann", 0), fact("bob", 3, "buy", 60), fact("ann", 4, "buy", 5)],
    [fact("ann", 9, "buy", 7), fact("bob", 1450, "look", 2), fact("ann", 1460, "look", 3)],
    [fact("eve", 11), fact("ann", 1470, "buy", 90)],
]


@pytest.fixture
def told(lake: ToyLake) -> ToyLake:
    """Two epochs, of which none is built yet."""
    lake.epoch(TOLD[0])
    lake.epoch(TOLD[1])
    return lake


def never_told(toy: Domain, folder: Path, gone: Iterable[str]) -> dict[str, Any]:
    """What a lake answers that some people never told anything."""
    other = ToyLake(None, Layout(str(folder)), toy)
    for epoch in TOLD:
        other.epoch([one for one in epoch if f"{one['who']} {one['what']}" not in gone])
    return answers(other)


def ask(lake: ToyLake, operation: str, where: str, of: str = "") -> list[Built]:
    source = lake.domain.sources[0]
    said = settled(lake.layout, source, named(operation, source, where, "", "", of, "test", "to see"))
    assert lake.spark
    return retract(lake.spark, lake.layout, source, said, lambda release: passes)


def passes(rows: DataFrame, table: str) -> Passed:
    return Passed()


def test_a_retraction_and_the_half_of_it_that_is_taken_back(told: ToyLake, toy: Domain, tmp_path: Path) -> None:
    lake = told
    lake.build()
    lake.epoch(TOLD[2])
    silver = lake.layout.silver("r1", "toy.events")
    ask(lake, "one", "who = 'ann'")
    assert answers(lake) == never_told(toy, tmp_path / "without", ["ann look", "ann buy"])
    rows = DeltaTable(silver).to_pyarrow_table()
    assert (rows.num_rows, rows["reason"].to_pylist().count("retracted")) == (8, 5)
    assert books(lake) == (3, 5)
    held = RETRACTIONS.in_force(lake.layout, "toy.events")[0]
    ask(lake, "two", "what = 'buy'", held.id)
    assert answers(lake) == never_told(toy, tmp_path / "half", ["ann look"])
    assert books(lake) == (6, 2)


def books(lake: ToyLake) -> tuple[int, int]:
    """Facts and rejected, as the ledger has them."""
    post(lake.layout, (lake.domain.sources[0],), "r1")
    sums, _ = booked(lake.layout.ledger(), "r1")
    return sum(row["facts"] for row in sums.values()), sum(row["rejected"] for row in sums.values())


def test_a_retraction_that_was_killed_between_silver_and_its_views_goes_on_with_its_views(
    told: ToyLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    silver, built = told.layout.silver("r1", "toy.events"), []

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(retraction, "rebuilt", killed)
    with pytest.raises(KeyboardInterrupt):
        ask(told, "one", "who = 'ann'")
    version = DeltaTable(silver).version()
    monkeypatch.setattr(retraction, "rebuilt", lambda *asked: built.append(asked[4].days) or [])
    ask(told, "one", "who = 'ann'")
    assert (DeltaTable(silver).version(), built) == (version, [["2026-03-02", "2026-03-03"]])
