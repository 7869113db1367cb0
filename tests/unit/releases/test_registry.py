"""The registry: what is known of each release, and one pointer that moves in one commit."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from penstock.lake import releases
from penstock.lake.layout import Layout
from penstock.lake.releases import (
    BUILDING,
    DROPPED,
    PREVIOUS,
    READY,
    RETIRED,
    Refused,
    Release,
    current,
    registry,
    switch,
)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path))


def said(layout: Layout, name: str, state: str) -> None:
    releases.say(layout, Release("web", name, state, code="git abc", hash="f00"))


def test_a_lake_without_a_registry_has_its_first_release(layout: Layout) -> None:
    assert (current(layout, "web"), registry(layout, "web").kept) == ("r1", ["r1"])


def test_what_is_said_of_a_release_never_moves_the_pointer(layout: Layout) -> None:
    said(layout, "r2", BUILDING)
    said(layout, "r2", READY)
    now = registry(layout, "web")
    assert (now.current, now.kept, now.releases["r2"].hash, now.next_name()) == ("r1", ["r1", "r2"], "f00", "r3")


def test_a_switch_is_reverted_and_made_again(layout: Layout) -> None:
    said(layout, "r2", READY)
    moves = [switch(layout, "web", to, "lina", "wrong rule") for to in ("r2", PREVIOUS, PREVIOUS)]
    assert (moves, current(layout, "web")) == ([("r1", "r2"), ("r2", "r1"), ("r1", "r2")], "r2")


def test_an_operation_that_runs_again_switches_once(layout: Layout) -> None:
    said(layout, "r2", READY)
    switch(layout, "web", "r2", "lina", "why", "switch/1")
    switch(layout, "web", "r1", "lina", "why", "switch/2")
    assert switch(layout, "web", "r2", "lina", "why", "switch/1") == ("r1", "r2")
    assert current(layout, "web") == "r1"


@pytest.mark.parametrize(
    ("state", "sentence"),
    [(BUILDING, "not done yet"), (RETIRED, "stands still"), (DROPPED, "tables are gone")],
)
def test_a_release_that_is_not_ready_is_refused(layout: Layout, state: str, sentence: str) -> None:
    said(layout, "r2", state)
    with pytest.raises(Refused, match=sentence):
        switch(layout, "web", "r2", "lina", "why")


@pytest.mark.parametrize(("state", "sentence"), [(RETIRED, "stands still"), (DROPPED, "tables are gone")])
def test_going_back_to_a_release_that_is_no_more_is_refused(layout: Layout, state: str, sentence: str) -> None:
    said(layout, "r2", READY)
    switch(layout, "web", "r2", "lina", "wrong rule")
    said(layout, "r1", state)
    with pytest.raises(Refused, match=f"web r1 is {state}.*{sentence}"):
        switch(layout, "web", PREVIOUS, "lina", "not so fast")
    assert current(layout, "web") == "r2"


def test_there_is_nothing_to_revert_before_the_first_switch(layout: Layout) -> None:
    with pytest.raises(Refused, match="never switched"):
        switch(layout, "web", PREVIOUS, "lina", "why")


def test_decisions_at_once_are_made_one_after_the_other(layout: Layout) -> None:
    said(layout, "r2", READY)
    with ThreadPoolExecutor(4) as at_once:
        list(at_once.map(lambda nth: switch(layout, "web", f"r{nth % 2 + 1}", "lina", "why"), range(16)))
    rows = registry(layout, "web").rows[1:]
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert all(before.release != after.release for before, after in pairwise(rows))


@pytest.mark.parametrize("days", [0.5, 7])
def test_a_release_that_nobody_went_back_to_for_the_set_time_is_retired(layout: Layout, days: float) -> None:
    said(layout, "r2", READY)
    switch(layout, "web", "r2", "lina", "wrong rule")
    soon, late = (datetime.now(UTC) + timedelta(days=days, hours=hours) for hours in (-1, 1))
    assert [releases.retire(layout, "web", at, days) for at in (soon, late, late)] == [[], ["r1"], []]
    assert (registry(layout, "web").kept, current(layout, "web")) == (["r2"], "r2")
    with pytest.raises(Refused, match=r"r1 is retired since .* `penstock replay --domain web --code .*`\. Nothing"):
        switch(layout, "web", PREVIOUS, "lina", "why")


def test_one_may_go_back_until_so_long_after_a_release_was_last_read(layout: Layout) -> None:
    said(layout, "r2", READY)
    moved = [switch(layout, "web", to, "lina", "why") and registry(layout, "web").rows[-1].at for to in ("r2", "r1")]
    now = registry(layout, "web")
    assert [now.until(name, 7) for name in ("r1", "r2")] == [None, moved[-1] + timedelta(days=7)]
    said(layout, "r2", RETIRED)
    assert registry(layout, "web").until("r2", 7) is None
