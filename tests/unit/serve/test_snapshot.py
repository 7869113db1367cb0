"""What a reader holds while tables change under it: neither an older answer than before, nor a fact twice or not."""

import shutil
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from toy_lake import Passed, ToyLake, fact, traffic

from penstock.engine.build import Batch
from penstock.engine.candidate import PARTITIONS
from penstock.engine.publish import published
from penstock.lake.following import Listed
from penstock.lake.local import Local
from penstock.lake.publication import Publication
from penstock.model.bucket import widths
from penstock.model.domain import view
from penstock.model.view import Tally, View
from penstock.serve.reader import Reader

VIEWS = ("toy.events_by_what", "toy.everything", "toy.sessions", "toy.now")


def answered(lake: ToyLake, reader: Reader) -> dict[str, Any]:
    answers = {name: lake.answer(name, reader) for name in VIEWS}
    return {name: (sorted(one.rows.to_pylist(), key=str), one.facts) for name, one in answers.items()}


def partials(of: View, facts: pa.Table) -> pa.Table:
    """What a build would make of these facts."""
    made = Local(facts)
    if isinstance(of, Tally):
        return pa.concat_tables([made.partials(of, width) for width in widths(of.every)])
    return made.partials(of)


def publish(lake: ToyLake, names: Sequence[str], cut: int) -> None:
    """Publishes these views with a cut, as a build does."""
    for name in names:
        candidate = lake.layout.candidate("r1", name)
        write_deltalake(candidate, partials(view(name), lake.epochs[cut]), partition_by=PARTITIONS)
        published(candidate, lake.layout.gold("r1", name), None, Publication({"toy.events": cut}, "r1"), -1)


def remove(lake: ToyLake, names: Sequence[str]) -> None:
    """Removes what the published cuts cover, as a build does in the end."""
    Batch(lake.spark, lake.layout, "r1", lambda *_: Passed())._forget([view(name) for name in names])  # type: ignore[arg-type]


@pytest.fixture
def reader(lake: ToyLake) -> Reader:
    """Two epochs, seen by a reader."""
    told = traffic(3, 40)
    lake.epoch(told[:25])
    lake.epoch(told[25:])
    reader = Reader(lake.layout)
    reader.refresh()
    return reader


def test_nothing_is_counted_twice_or_missed_while_a_build_publishes_and_then_removes(
    lake: ToyLake, reader: Reader
) -> None:
    before = answered(lake, reader)
    for step in (publish, remove):
        step(lake, VIEWS, *[0] * (step is publish))
        reader.refresh()
        assert answered(lake, reader) == before
        afresh = Reader(lake.layout)
        afresh.refresh()
        assert answered(lake, afresh) == before
    kept = [DeltaTable(lake.layout.speed("r1", name)).to_pyarrow_table()["epoch"].to_pylist() for name in VIEWS]
    assert [{*epochs} for epochs in kept] == [{1}] * len(VIEWS)


def test_a_build_that_publishes_and_removes_between_two_reads_of_one_look_takes_nothing_away(
    lake: ToyLake, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, look, built = answered(lake, reader), Listed.look, set()

    def interrupted(table: Listed) -> int:
        found, name = look(table), table.path.rpartition("/")[2]
        if name in VIEWS and name not in built:
            built.add(name)
            publish(lake, [name], 0)
            remove(lake, [name])
        return found

    monkeypatch.setattr(Listed, "look", interrupted)
    reader.refresh()
    assert (built, answered(lake, reader)) == ({*VIEWS}, before)


def test_a_table_that_is_replaced_by_an_older_copy_changes_no_answer_and_is_named_in_the_status(
    lake: ToyLake, reader: Reader
) -> None:
    name = "toy.events_by_what"
    speed = lake.layout.speed("r1", name)
    shutil.copytree(speed, f"{speed}.old")
    lake.epoch([fact(minutes=5), fact(minutes=6)])
    reader.refresh()
    before = answered(lake, reader)
    shutil.rmtree(speed)
    shutil.move(f"{speed}.old", speed)
    assert name not in reader.refresh()
    assert ([*reader.problems], answered(lake, reader)) == ([name], before)
    # Only when it is as far as it was.
    lake.commit(2)
    reader.refresh()
    assert (reader.problems, answered(lake, reader)) == ({}, before)
