"""A replay makes a release from bronze: with the same code, row by row what the live streams made."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from toy_log import NOON, ToyLog, said, traffic

from penstock.engine import checkpoints
from penstock.engine.commit import Appender
from penstock.engine.dropping import drop
from penstock.lake.audit import Entry, entries
from penstock.lake.releases import DROPPED, READY, Refused, Release, registry, say, switch
from penstock.serve.reader import Reader
from penstock.settings import Settings

SEEDS = range(20 if os.environ.get("PENSTOCK_FULL") else 1)
Replay = Callable[..., Release]
FEW = "penstock.engine.replay.EPOCH_RECORDS"


def silver(log: ToyLog, release: str) -> pa.Table:
    """A release's silver without its epochs, in the log's order."""
    rows = DeltaTable(log.layout.silver(release, log.source)).to_pyarrow_table()
    return rows.drop_columns("epoch").sort_by([("partition", "ascending"), ("offset", "ascending")])


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
        killed.setattr(Appender, "append", dies_at(2))
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
        slow.setattr(Appender, "append", before(1, mark))
        with pytest.raises(Refused, match="toy r2 was dropped"):
            replay()
    drop(log.layout, settings.home, given_up, "r2")
    assert not Path(log.layout.silver("r2", log.source)).exists()
    assert (registry(log.layout, "toy").get("r2").state, len(entries(log.layout))) == ("dropped", 1)


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


def dies_at(epoch: int) -> Callable[..., bool]:
    """The process dies before this epoch is committed."""

    def die() -> None:
        raise KeyboardInterrupt

    return before(epoch, die)


def before(epoch: int, happens: Callable[[], object]) -> Callable[..., bool]:
    """What happens before an epoch is committed."""
    append = Appender.append

    def appending(table: Appender, rows: pa.Table, query: str, number: int, **note: Any) -> bool:
        if number == epoch:
            happens()
        return append(table, rows, query, number, **note)

    return appending


def answers(log: ToyLog) -> dict[str, list[dict[str, Any]]]:
    """Every view's rows, as a new reader sees them."""
    reader = Reader(log.layout)
    reader.refresh()
    tables = {name: reader.table(view) for name, view in reader.views().items() if name.startswith("toy.")}
    # A quantile's sketch throws coins.
    shown = {name: [each for each in rows.column_names if "p95" not in each] for name, rows in tables.items() if rows}
    return {name: tables[name].select(columns).to_pylist() for name, columns in shown.items()}
