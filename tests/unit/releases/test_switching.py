"""A switch is one step for readers: before it everything is of one release, after it everything is of the other."""

import json
import os
import threading
from pathlib import Path

import pytest
from toy_lake import MIDNIGHT, ToyLake, fact

from penstock.lake.audit import entries
from penstock.lake.layout import Layout
from penstock.lake.maintain import compact
from penstock.lake.releases import PREVIOUS, READY, Refused, Release, say, switch
from penstock.lake.switching import switched
from penstock.model.domain import Domain
from penstock.serve.question import ask
from penstock.serve.reader import Reader

READERS = 4
FULL = os.environ.get("PENSTOCK_FULL")
SWITCHES = 1000 if FULL else 8
# So many switches have a night among them.
NIGHT = 100 if FULL else 4
RANGE = [("from", "2026-01-01"), ("to", "2026-12-31")]
# How many facts each release has: an answer that mixes two has neither.
FACTS = {"r1": 3, "r2": 8}


@pytest.fixture
def layout(tmp_path: Path, toy: Domain) -> Layout:
    """Two releases of the toy domain, each with facts of its own number of people."""
    layout = Layout(str(tmp_path / "lake"))
    for release, count in FACTS.items():
        lake = ToyLake(None, layout, toy, release=release)
        lake.epoch([fact(f"v{number}", 90 * number) for number in range(count)])
    say(layout, Release("toy", "r2", READY))
    return layout


def asked(reader: Reader, name: str) -> tuple[str, int]:
    """What one question sees: the release, and how many there are of something."""
    standing = reader.standing
    view = reader.view(name, standing)
    answer = reader.answer(ask(view, RANGE, MIDNIGHT), reader.snapshot(view, standing))
    column = {"toy.events_by_what": "events", "toy.visits": "visits"}[name]
    return answer.snapshot.release, sum(answer.rows[column].to_pylist())


@pytest.mark.timeout(3600 if FULL else 400)
def test_every_answer_is_wholly_of_one_release_however_often_it_is_switched(layout: Layout) -> None:
    reader = Reader(layout)
    reader.refresh()
    seen: list[tuple[str, int]] = []
    over = threading.Event()

    def read(name: str) -> None:
        while not over.is_set():
            seen.append(asked(reader, name))

    names = ["toy.events_by_what", "toy.visits"] * (READERS // 2)
    threads = [threading.Thread(target=read, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for number in range(1, SWITCHES + 1):
        switch(layout, "toy", "r2" if reader.standing.release("toy") == "r1" else "r1", "lina", "to see")
        reader.refresh()
        if number % NIGHT == 0:
            compact(layout.control("releases"))
    over.set()
    for thread in threads:
        thread.join()
    assert set(seen) == set(FACTS.items())


def test_a_switch_tells_that_every_view_of_the_domain_changed(layout: Layout) -> None:
    reader = Reader(layout)
    reader.refresh()
    switch(layout, "toy", "r2", "lina", "the rule was wrong")
    assert reader.refresh() >= {"toy.events_by_what", "toy.visits", "toy.now"}
    assert asked(reader, "toy.events_by_what") == ("r2", 8)
    switch(layout, "toy", PREVIOUS, "lina", "not so wrong")
    reader.refresh()
    assert asked(reader, "toy.visits") == ("r1", 3)


def test_a_release_that_has_not_caught_up_is_refused(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.lake.switching.MOST_BEHIND", 4)
    switched(layout, "toy", "r2", "lina", "why", "omar", "switch/1")
    with pytest.raises(Refused, match="toy r1 lacks 5 records that r2 has"):
        switched(layout, "toy", "r1", "lina", "why", "omar", "switch/2")
    assert [(entry.before, entry.after, entry.approved_by) for entry in entries(layout)] == [
        ({"current": "r1"}, {"current": "r2"}, "omar")
    ]


def test_a_reader_may_be_asked_of_a_release_that_is_not_current(layout: Layout) -> None:
    reader = Reader(layout, fixed={"toy": "r2"})
    reader.refresh()
    assert asked(reader, "toy.events_by_what") == ("r2", 8)


def test_a_release_whose_code_is_gone_does_not_move_readers(layout: Layout) -> None:
    say(layout, Release("toy", "r3", READY, hash="f00"))
    reader = Reader(layout)
    reader.refresh()
    switch(layout, "toy", "r3", "lina", "why")
    reader.refresh()
    assert (reader.standing.release("toy"), "not what was pinned" in json.dumps(reader.problems)) == ("r1", True)
