"""Days that others wait for are built with the one that was asked for, and a bad one stops itself alone."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from toy_lake import MIDNIGHT, Passed, ToyLake, fact

from penstock.engine import along
from penstock.engine.build import Batch
from penstock.engine.counting import Rows
from penstock.engine.publish import Refused
from penstock.lake.asked import built
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table, publications
from penstock.lake.releases import READY, Release, say
from penstock.model.domain import Domain

MONDAY, TUESDAY, WEDNESDAY, THURSDAY = (MIDNIGHT.date() + timedelta(days=number) for number in range(4))
BEGUN = datetime(2026, 11, 1, 12, tzinfo=UTC)
BEFORE, AFTER = BEGUN - timedelta(minutes=1), BEGUN + timedelta(minutes=1)


@pytest.fixture
def lake(tmp_path: Path, toy: Domain) -> ToyLake:
    """Four days of facts, all built by nobody who was waited for."""
    lake = ToyLake(None, Layout(str(tmp_path / "lake")), toy)
    lake.epoch([fact(minutes=60 * hours) for hours in range(0, 96, 6)])
    lake.build()
    return lake


class Builds:
    """Of days for which somebody waits; the gate refuses candidates that hold `bad`."""

    def __init__(self, lake: ToyLake, bad: date | None = None) -> None:
        self.lake, self.bad, self.on_record = lake, bad, list[bool]()

    def __call__(self, refusals: bool) -> Batch:
        self.on_record.append(refusals)
        batch = Batch(self.lake.spark, self.lake.layout, "r1", self.gate)  # type: ignore[arg-type]
        batch.begun_at = BEGUN.isoformat()
        return batch

    def gate(self, rows: Rows, table: str) -> Passed:
        (bad,) = rows.counted([f"day = date '{self.bad or date.min}'"])
        return Passed(not bad, "it holds the bad day")

    def run(self, own: date, last: date) -> None:
        along.built(self, self.lake.domain.views, own, last)

    def done(self) -> list[date]:
        """The days that whoever asked for them would find built."""
        days = (MONDAY, TUESDAY, WEDNESDAY, THURSDAY)
        return [day for day in days if built(self.lake.layout, ["toy"], day, BEFORE)]


def test_days_that_are_waited_for_are_built_at_once(lake: ToyLake) -> None:
    builds = Builds(lake)
    builds.run(MONDAY, WEDNESDAY)
    assert (builds.done(), builds.on_record) == ([MONDAY, TUESDAY, WEDNESDAY], [False])


def test_of_days_that_are_refused_together_each_is_built_by_itself(lake: ToyLake) -> None:
    builds = Builds(lake, bad=TUESDAY)
    builds.run(MONDAY, THURSDAY)
    assert (builds.done(), builds.on_record) == ([MONDAY, WEDNESDAY, THURSDAY], [False, True, False, False, False])


def test_a_day_of_its_own_that_is_refused_is_heard_and_nothing_else_is_built(lake: ToyLake) -> None:
    builds = Builds(lake, bad=MONDAY)
    with pytest.raises(Refused, match="the bad day"):
        builds.run(MONDAY, THURSDAY)
    assert (builds.done(), builds.on_record) == ([], [False, True])


def test_a_build_of_everything_is_one_of_each_day_for_those_who_asked_before_it_began(lake: ToyLake) -> None:
    Builds(lake)(True).build(lake.domain.views, full=True)
    assert [built(lake.layout, ["toy"], MONDAY, asked) for asked in (BEFORE, AFTER)] == [True, False]
    # It may have views that nobody here knows.
    say(lake.layout, Release("toy", "r2", READY, hash="0" * 64))
    assert not built(lake.layout, ["toy"], MONDAY, BEFORE)


def test_a_view_that_lacks_the_day_is_waited_for(lake: ToyLake) -> None:
    Builds(lake)(True).build(lake.domain.views[1:], days=(MONDAY, MONDAY))
    gold = open_table(lake.layout.gold("r1", lake.domain.views[0].name))
    assert gold is not None
    assert [said.begun_at for said in publications(gold)] == [""]
    assert Builds(lake).done() == []
