"""A replay makes a release from bronze: with the same code, row by row what the live streams made."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from dying import before, dies, dies_at
from pyspark.sql import SparkSession
from toy_log import NOON, SHAPE, ToyLog, answers, said, silver, traffic

from penstock.engine import checkpoints, releasing, repeating
from penstock.engine.build import Batch, Built
from penstock.engine.commit import Appender
from penstock.engine.dropping import drop
from penstock.engine.matching import named as retracting
from penstock.engine.restating import named as restating
from penstock.engine.retraction import mark, settled
from penstock.lake.audit import Entry, entries
from penstock.lake.layout import Layout
from penstock.lake.releases import DROPPED, READY, Refused, Release, registry, say, switch
from penstock.lake.replays import ready as make_ready
from penstock.model.domain import source as source_of
from penstock.settings import Settings

SEEDS = range(20 if os.environ.get("PENSTOCK_FULL") else 1)
Replay = Callable[..., Release]
FEW = "penstock.engine.replay.EPOCH_RECORDS"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_code_makes_the_same_rows(
    log: ToyLog, replay: Replay, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FEW, 70 + seed)
    told = traffic(seed, 200)
    for start in range(0, 200, 50):
        log.take(told[start : start + 50])
    replay()
    assert silver(log, "r2").equals(silver(log, "r1"))
    # Its stream goes on exactly where the batch ended.
    place = checkpoints.places(log.layout, log.source, "r2")[1]
    assert (checkpoints.examine(place), checkpoints.wanted(place)) == ("", log.ends)


def test_views_of_a_new_release_answer_as_those_of_the_old_one(log: ToyLog, replay: Replay) -> None:
    log.take(traffic(7, 60))
    before = answers(log)
    replay(views=True)
    assert registry(log.layout, "toy").get("r2").state == READY
    assert [(entry.what, entry.who) for entry in entries(log.layout)] == [("replay", "lina")]
    switch(log.layout, "toy", "r2", "lina", "why")
    assert answers(log) == before


def test_a_copy_that_came_days_later_is_a_duplicate_in_a_replay(log: ToyLog, replay: Replay) -> None:
    later = NOON + timedelta(days=3)
    log.take([said(id="one", at=NOON)])
    log.take([said(id="two", at=later), said(id="one", at=later)])
    # What the live stream would have said after three days: it remembers one.
    replay()
    assert silver(log, "r2")["disposition"].to_pylist() == ["fact", "fact", "duplicate"]


def test_a_replay_that_was_killed_goes_on_after_its_last_epoch(
    log: ToyLog, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    for start in range(3):
        log.take(traffic(start, 30))
    monkeypatch.setattr(FEW, 20)
    with monkeypatch.context() as killed:
        killed.setattr(Appender, "add", dies_at(2))
        with pytest.raises(KeyboardInterrupt):
            replay()
    assert silver(log, "r2").num_rows == 60
    replay()
    assert silver(log, "r2").equals(silver(log, "r1"))


def test_a_replay_that_is_given_up_ends_and_leaves_nothing(
    log: ToyLog, replay: Replay, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for start in range(3):
        log.take(traffic(start, 30))
    monkeypatch.setattr(FEW, 20)
    given_up = Entry("drop/1", "drop", "toy", "lina", "it takes too long")

    def mark() -> None:
        say(log.layout, replace(registry(log.layout, "toy").get("r2"), state=DROPPED))

    with monkeypatch.context() as slow:
        slow.setattr(Appender, "add", before(1, mark))
        with pytest.raises(Refused, match="toy r2 was dropped"):
            replay()
    drop(log.layout, settings.home, given_up, "r2")
    assert not Path(log.layout.silver("r2", log.source)).exists()
    assert (registry(log.layout, "toy").get("r2").state, len(entries(log.layout))) == ("dropped", 1)


def test_a_new_release_repeats_what_was_stated_in_its_order_and_once(
    log: ToyLog, replay: Replay, spark: SparkSession
) -> None:
    log.take([said("ann", "buy", 1, id="a"), said("bob", "look", 2, id="b"), said("eve", "buy", 10, id="c")])
    source, path = source_of(log.source), log.layout.silver("r1", log.source)
    large = retracting("one", source, "amount > 9", "", "", "")
    small = restating(log.layout, "two", source, "amount < 2", "", "", "amount", "amount * 10", "")
    for each in (large, small):
        mark(spark, path, source, settled(log.layout, source, each))
    replay()
    # By now the retraction's condition holds for what was restated: asked again, nothing may change.
    replay()
    assert silver(log, "r2").equals(silver(log, "r1"))
    told = silver(log, "r2").select(["disposition", "amount"]).to_pydict()
    assert told == {"disposition": ["fact", "fact", "rejected"], "amount": [10, 2, 10]}


def test_what_is_stated_while_views_are_built_holds_for_the_new_release_too(
    log: ToyLog, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.take([said("ann", amount=1, id="a"), said("bob", amount=2, id="b")])
    source, built = source_of(log.source), list[bool]()

    def stating(batch: Batch, views: Any, full: bool = False) -> list[Built]:
        built.append(full)
        settled(log.layout, source, retracting("one", source, "amount > 1", "", "", ""))
        return []

    monkeypatch.setattr(Batch, "build", stating)
    replay(views=True)
    assert (silver(log, "r2")["disposition"].to_pylist(), built) == (["fact", "rejected"], [False, True])


def test_what_is_stated_of_records_that_came_after_the_replay_holds_for_the_new_release_too(
    log: ToyLog, replay: Replay, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its stream would have them as facts: nobody says a thing twice."""
    log.take([said("ann", amount=1, id="a")])
    source, path, built = source_of(log.source), log.layout.silver("r1", log.source), list[bool]()

    def stating(batch: Batch, views: Any, full: bool = False) -> list[Built]:
        built.append(full)
        if len(built) == 1:
            log.take([said("junk", amount=2, id="b"), said("bob", amount=3, id="c", partition=1)])
            mark(
                spark, path, source, settled(log.layout, source, retracting("one", source, "who = 'junk'", "", "", ""))
            )
        return []

    monkeypatch.setattr(Batch, "build", stating)
    replay(views=True)
    assert silver(log, "r2").equals(silver(log, "r1"))
    assert (silver(log, "r2")["disposition"].to_pylist(), built) == (["fact", "rejected", "fact"], [False, True])
    # Its stream goes on after them.
    place = checkpoints.places(log.layout, log.source, "r2")[1]
    assert (checkpoints.examine(place), checkpoints.wanted(place)) == ("", log.ends)


def test_what_is_stated_up_to_the_moment_when_it_is_ready_holds_and_is_built(
    log: ToyLog, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.take([said("ann", amount=nth, id=f"e{nth}") for nth in range(4)])
    source, built = source_of(log.source), list[str]()

    def state(amount: int) -> None:
        asked = retracting(f"op{amount}", source, f"amount = {amount}", "", "", "")
        settled(log.layout, source, asked)

    def stating(batch: Batch, views: Any, full: bool = False) -> list[Built]:
        built.append(registry(log.layout, "toy").get("r2").state)
        if len(built) < 3:
            state(len(built))
        return []

    def ready(layout: Layout, release: Release) -> None:
        state(3)
        make_ready(layout, release)

    monkeypatch.setattr(Batch, "build", stating)
    monkeypatch.setattr(releasing, "ready", ready)
    replay(views=True)
    assert silver(log, "r2")["disposition"].to_pylist() == ["fact", "rejected", "rejected", "rejected"]
    assert built == ["building"] * 3 + ["ready"]


def test_a_replay_that_was_killed_when_it_was_ready_builds_once_more_and_says_so_in_the_audit(
    log: ToyLog, replay: Replay, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.take([said("ann", id="a")])
    built = list[bool]()
    monkeypatch.setattr(Batch, "build", lambda batch, views, full: built.append(full) or [])
    with monkeypatch.context() as killed:
        killed.setattr(releasing, "_finished", dies)
        with pytest.raises(KeyboardInterrupt):
            replay(views=True)
        killed.setattr(releasing, "open_session", dies)
        with pytest.raises(KeyboardInterrupt):
            releasing.replay(settings, registry(log.layout, "toy").get("r2"), settings.home, 1)
    release = replay(views=True)
    assert releasing.replay(settings, release, settings.home, 1) == "toy r2 is ready already"
    assert (built, [entry.what for entry in entries(log.layout)]) == ([False, True], ["replay"])


def test_a_source_that_loses_every_fact_while_views_are_built_loses_its_numbers(
    log: ToyLog, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.take([said("ann", id="a"), said("bob", id="b")])
    source, least = source_of(log.source), list[int]()

    def stating(batch: Batch, views: Any, full: bool = False) -> list[Built]:
        least.append(batch.least)
        settled(log.layout, source, retracting("one", source, "true", "", "", ""), confirmed=True)
        return []

    monkeypatch.setattr(Batch, "build", stating)
    replay(views=True)
    # Built up to silver's last epoch although no epoch has a fact, and an empty view passes.
    assert least == [-1, -1, 0]


def test_what_is_about_records_that_the_archive_does_not_get_stops_the_replay(
    log: ToyLog, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.take([said("ann", id="a")])
    source, rows = source_of(log.source), silver(log, "r1")
    later = rows.set_column(rows.column_names.index("offset"), "offset", pa.array([7], pa.int64()))
    Appender(log.layout.silver("r1", log.source)).append(
        later.add_column(2, "epoch", pa.array([9], pa.int64())), SHAPE, 9
    )
    settled(log.layout, source, retracting("one", source, "who = 'ann'", "", "", ""), confirmed=True)
    monkeypatch.setattr(repeating, "PATIENCE", 0.0)
    with pytest.raises(Refused, match="is about records that the archive does not have yet"):
        replay()


def test_however_much_was_stated_a_replay_finds_where_it_stands(
    log: ToyLog, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.take([said("ann", id="a")])
    source = source_of(log.source)
    for nth in range(4):
        asked = retracting(f"op{nth}", source, f"who = 'nobody{nth}'", "", "", "")
        settled(log.layout, source, asked, confirmed=True)
    monkeypatch.setattr(checkpoints, "COMMITS", 3)
    replay()
    log.take([said("bob", id="b")])
    replay()
    assert silver(log, "r2").equals(silver(log, "r1"))


def test_code_that_rejects_everything_is_stopped(log: ToyLog, replay: Replay, changed: Callable[..., str]) -> None:
    log.take(traffic(1, 40))
    wrong = changed("shapes.py", 'F.col("event.who").isNull()', "F.lit(True)")
    with pytest.raises(Refused, match="makes no fact of the first 40 records"):
        replay(wrong)


def test_a_shape_that_loses_records_commits_nothing(log: ToyLog, replay: Replay, changed: Callable[..., str]) -> None:
    log.take(traffic(1, 10))
    with pytest.raises(AssertionError, match="Nothing was committed"):
        replay(changed("shapes.py", '"event.amount",\n    )', '"event.amount",\n    ).where("offset <> 1")'))
    assert silver(log, "r2").num_rows == 0


def test_a_replay_of_some_days_takes_the_others_over(log: ToyLog, replay: Replay, changed: Callable[..., str]) -> None:
    for day in range(3):
        log.take([said("ann", amount=99, id=f"e{day}", at=NOON + timedelta(days=day))])
    wrong = changed("shapes.py", 'F.col("event.who").isNull()', 'F.col("event.amount") > 9')
    replay(wrong, first="2026-03-03", last="2026-03-03")
    assert silver(log, "r2")["disposition"].to_pylist() == ["fact", "rejected", "fact"]


def test_a_replay_of_some_days_by_code_with_other_columns_is_refused(
    log: ToyLog, replay: Replay, changed: Callable[..., str]
) -> None:
    for day in range(2):
        log.take([said("ann", id=f"e{day}", at=NOON + timedelta(days=day))])
    wider = changed("model.py", "    fields=(\n", '    fields=(\n        Field("why", "string", "what for"),\n')
    with pytest.raises(Refused, match="other columns than r1 has, so nothing can be taken over"):
        replay(wider, first="2026-03-03")
    assert silver(log, "r2").num_rows == 0
