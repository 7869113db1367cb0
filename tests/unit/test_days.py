"""A day is final when each fact counts once and every view has it, and open again when something comes late."""

from collections.abc import Collection
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from penstock.lake import exact, rewinds
from penstock.lake.days import Day, close
from penstock.lake.layout import Layout
from penstock.lake.publication import Publication
from penstock.lake.rewinds import Rewind

DAY, NEXT = date(2026, 11, 17), date(2026, 11, 18)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Late copies were looked for up to the tenth epoch."""
    made = Layout(str(tmp_path))
    exact.note(made, "r1", "toy.events", 10)
    return made


def facts(layout: Layout, *ids: str, day: date = DAY, epoch: int = 1) -> None:
    silver = {"event_id": list(ids), "day": [day] * len(ids), "epoch": [epoch] * len(ids)}
    rows = pa.table({**silver, "disposition": ["fact"] * len(ids)})
    write_deltalake(layout.silver("r1", "toy.events"), rows, mode="append", partition_by=["day"])


def built(layout: Layout, cut: int) -> None:
    note = CommitProperties(custom_metadata={"userMetadata": Publication({"toy.events": cut}, "r1").to_metadata()})
    write_deltalake(layout.gold("r1", "toy.v"), pa.table({"n": [1]}), mode="append", commit_properties=note)


def closed(layout: Layout, until: date = DAY, unbalanced: Collection[date] = ()) -> list[Day]:
    return close(layout, "r1", "toy.events", ["toy.v"], until, unbalanced)


def test_a_day_that_every_view_has_is_final(layout: Layout) -> None:
    facts(layout, "a", "b")
    built(layout, 1)
    assert [(day.day, day.facts, day.final) for day in closed(layout)] == [(DAY, 2, True)]


def test_a_day_that_a_view_lacks_stays_open_and_is_looked_at_again(layout: Layout) -> None:
    facts(layout, "a", epoch=2)
    built(layout, 1)
    first = closed(layout)
    built(layout, 2)
    assert [(day.final, day.reason) for day in first + closed(layout)] == [(False, "not yet built: toy.v"), (True, "")]


def test_what_was_not_compared_with_all_history_yet_reopens_its_day(layout: Layout) -> None:
    facts(layout, "a")
    facts(layout, "late", epoch=11)
    built(layout, 11)
    first = closed(layout)
    exact.note(layout, "r1", "toy.events", 11)
    assert [(day.rows, day.final) for day in first + closed(layout)] == [(1, True), (2, True)]


def test_nothing_is_said_of_a_day_of_which_nothing_was_compared(layout: Layout) -> None:
    facts(layout, "late", epoch=11)
    assert closed(layout) == []


def test_what_a_rewind_brought_back_is_compared_again(layout: Layout) -> None:
    rewinds.note(layout, Rewind("a", "toy", "p", "q", "test", "to see", point_at=datetime.now(UTC)))
    assert exact.up_to(layout, "r1", "toy.events") == -1


def test_a_day_with_an_hour_that_does_not_balance_stays_open_and_no_other(layout: Layout) -> None:
    facts(layout, "a")
    facts(layout, "b", day=NEXT)
    built(layout, 1)
    assert [day.final for day in closed(layout, NEXT, {DAY})] == [False, True]


def test_a_day_is_few_files_in_the_order_of_epochs_once_it_is_looked_at(layout: Layout) -> None:
    for epoch in (3, 1, 2):
        facts(layout, f"e{epoch}", epoch=epoch)
    closed(layout)
    silver = DeltaTable(layout.silver("r1", "toy.events"))
    assert (len(silver.file_uris()), silver.to_pyarrow_table()["epoch"].to_pylist()) == (1, [1, 2, 3])


def test_an_event_that_counts_twice_keeps_its_day_open(layout: Layout) -> None:
    facts(layout, "a", "a")
    built(layout, 1)
    assert [day.reason for day in closed(layout)] == ["1 facts have an event id that another has"]


def test_a_final_day_is_not_looked_at_again_until_something_comes_late(layout: Layout) -> None:
    facts(layout, "a")
    built(layout, 9)
    closed(layout)
    nothing = closed(layout)
    facts(layout, "late", epoch=2)
    assert (nothing, [day.facts for day in closed(layout)]) == ([], [2])


def test_a_day_that_is_not_over_is_left_alone(layout: Layout) -> None:
    facts(layout, "a", day=NEXT)
    assert closed(layout) == []
