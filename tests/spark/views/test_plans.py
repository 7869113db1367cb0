"""One definition, three plans: batch, speed, and both merged by the reader."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame
from toy_lake import MIDNIGHT, Passed, ToyLake, fact, traffic

from penstock.engine import arrived, candidate
from penstock.engine.build import TRIES, Batch
from penstock.engine.publish import Overtaken, Refused
from penstock.model.domain import view

from .conftest import WAYS, by_spark


def test_a_question_is_answered_from_speed_alone(lake: ToyLake) -> None:
    lake.epoch([fact("ann", 0, amount=3), fact("bob", 1, amount=60)])
    row = lake.rows("toy.events_by_what")[0]
    assert (row["events"], row["large"], row["large_share"], row["amount"], row["who"]) == (2, 1, 0.5, 63.0, 2.0)


def test_what_is_before_the_cut_and_what_is_after_it_add_up(lake: ToyLake) -> None:
    lake.epoch([fact(minutes=0)])
    lake.build()
    lake.epoch([fact(minutes=0), fact("bob", 1)])
    answer = lake.answer("toy.events_by_what")
    assert (answer.rows["events"].to_pylist(), answer.facts, answer.provisional) == ([3], 3, 2)


VIEWS = ("toy.events_by_what", "toy.everything", "toy.sessions", "toy.visits", "toy.now", "toy.impulses")


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_builds_and_what_came_after_them_equal_one_build_of_everything(lake: ToyLake) -> None:
    told = traffic(1, 60)
    lake.epoch(told[:20])
    lake.build()
    lake.epoch(told[20:40])
    lake.build()
    lake.epoch(told[40:])
    merged = {view: lake.rows(view) for view in VIEWS}
    lake.build(full=True)
    assert {view: lake.rows(view) for view in VIEWS} == merged


def test_a_build_of_few_facts_goes_on_from_one_of_many(lake: ToyLake, monkeypatch: pytest.MonkeyPatch) -> None:
    told = traffic(1, 60)
    lake.epoch(told[:30])
    with monkeypatch.context() as many:
        by_spark(many)
        lake.build()
    lake.epoch(told[30:])
    merged = {view: lake.rows(view) for view in VIEWS}
    lake.build()
    assert {view: lake.rows(view) for view in VIEWS} == merged


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_days_that_are_asked_for_are_made_of_facts_whatever_was_published_of_them(lake: ToyLake) -> None:
    midnight = 24 * 60
    nights = [fact("ann", night * midnight + around) for night in (1, 2) for around in (-20, 0, 20)]
    # It goes on from the asked day through the whole next one, and ends on the day after.
    nights += [fact("bob", 1.9 * midnight + 25 * number) for number in range(70)]
    lake.epoch([*nights, fact("cyd", 1.5 * midnight)])
    lake.build()
    lake.epoch([fact("eve", 4 * midnight)])
    told = {view: lake.rows(view) for view in VIEWS}
    asked = (MIDNIGHT + timedelta(days=1)).date()
    DeltaTable(lake.layout.gold("r1", "toy.sessions")).delete(f"day = '{asked}'")
    lake.build(days=(asked, asked))
    assert {view: lake.rows(view) for view in VIEWS} == told


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_days_that_are_asked_for_after_late_and_retracted_facts_are_as_all_facts_make_them(lake: ToyLake) -> None:
    told, late = traffic(3, 150), [fact(f"v{who}", 24 * 60 + around) for who in range(6) for around in (-25, -1, 23)]
    lake.epoch(told)
    lake.build()
    lake.epoch(late)
    first = MIDNIGHT.date()
    retracted = f"day = '{first + timedelta(days=1)}' and amount > 70"
    silver = lake.layout.silver("r1", "toy.events")
    lake.spark.sql(f"update delta.`{silver}` set disposition = 'rejected' where {retracted}")  # noqa: S608
    lake.build(days=(first, first + timedelta(days=1)))
    views = ("toy.sessions", "toy.visits", "toy.events_by_what")
    asked = {view: lake.rows(view) for view in views}
    lake.build(full=True)
    assert {view: lake.rows(view) for view in views} == asked


def test_a_refused_view_stops_nothing_but_what_is_made_of_it(lake: ToyLake) -> None:
    def no_sessions(rows: DataFrame, name: str) -> Passed:
        return replace(Passed(), passed=name != "toy.sessions", reason="it says no")

    lake.epoch([fact("ann", 0), fact("bob", 1)])
    lake.build()
    lake.epoch([fact("ann", 5)])
    with pytest.raises(Refused, match=r"refused toy\.sessions"):
        lake.build(no_sessions)
    cuts = {view: lake.answer(view).snapshot.cut for view in VIEWS}
    assert cuts == {**dict.fromkeys(VIEWS, 1), "toy.sessions": 0, "toy.visits": 0}
    assert [row["visits"] for row in lake.rows("toy.visits")] == [2]


def test_of_two_builds_at_once_the_second_finds_that_nothing_is_new(lake: ToyLake) -> None:
    lake.epoch([fact("ann", 0), fact("bob", 1)])
    with ThreadPoolExecutor(2) as both:
        made = list(both.map(lambda _: lake.build(), range(2)))
    assert sorted(map(len, made)) == [0, len(VIEWS)]
    assert lake.answer("toy.events_by_what").rows["events"].to_pylist() == [2]


EVENTS = "toy.events_by_what"


def overtaken(lake: ToyLake, times: int, full: bool) -> Batch:
    """A build that sleeps at its gate so often, its lease passed by, while another comes and goes."""
    naps = iter(range(times))

    def another_first(rows: DataFrame, name: str) -> Passed:
        if next(naps, None) is not None:
            Batch(lake.spark, lake.layout, "r1", lambda *_: Passed())._source([view(name)], full, None)
        return Passed()

    return Batch(lake.spark, lake.layout, "r1", another_first)


@pytest.mark.parametrize(("full", "built"), [(False, []), (True, [EVENTS])], ids=["nothing is new", "all facts again"])
def test_a_build_that_slept_while_another_finished_does_again_what_is_left_of_it(
    lake: ToyLake, full: bool, built: list[str]
) -> None:
    lake.epoch([fact("ann", 0)])
    assert [each.view for each in overtaken(lake, 1, full).build([view(EVENTS)], full)] == built
    assert lake.answer(EVENTS).rows["events"].to_pylist() == [1]


def test_a_build_that_is_overtaken_each_time_says_so_and_publishes_nothing(lake: ToyLake) -> None:
    lake.epoch([fact("ann", 0)])
    with pytest.raises(Overtaken, match="Build again"):
        overtaken(lake, TRIES, full=True).build([view(EVENTS)], full=True)
    assert lake.answer(EVENTS).rows["events"].to_pylist() == [1]


def passed_by(lake: ToyLake) -> None:
    """A build of everything that does not wait for a lease."""
    Batch(lake.spark, lake.layout, "r1", lambda *_: Passed())._source([view(name) for name in VIEWS], False, None)


def test_a_build_that_slept_after_it_read_silver_takes_no_fact_back(
    lake: ToyLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.epoch([fact("ann", 0)])
    lake.build()
    read, naps = arrived.last_epoch, iter([True])

    def asleep(silver: DeltaTable) -> int:
        last = read(silver)
        if next(naps, False):
            lake.epoch([fact("ann", 5), fact("bob", 3 * 24 * 60)])
            passed_by(lake)
        return last

    monkeypatch.setattr(arrived, "last_epoch", asleep)
    lake.build(days=(MIDNIGHT.date(), MIDNIGHT.date()))
    assert {lake.answer(name).snapshot.cut for name in VIEWS} == {1}
    lake.epoch([fact("cyd", 1)])
    lake.build()
    told = {name: lake.rows(name) for name in VIEWS}
    lake.build(full=True)
    assert {name: lake.rows(name) for name in VIEWS} == told


@pytest.mark.parametrize("at", ["write", "gate"])
def test_a_build_whose_candidates_another_one_cleared_tries_again(
    lake: ToyLake, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    lake.epoch([fact("ann", 0)])
    naps, save = iter([True]), candidate.save

    def another_first(*given: object) -> Passed:
        if next(naps, False):
            passed_by(lake)
            raise FileNotFoundError("what it was at is gone")
        return Passed()

    def saved(rows: pa.Table, path: str) -> None:
        if at == "write":
            another_first()
        save(rows, path)

    monkeypatch.setattr(candidate, "save", saved)
    lake.build(another_first if at == "gate" else lambda *_: Passed(), full=True)
    assert lake.answer(EVENTS).rows["events"].to_pylist() == [1]


def test_an_error_of_a_build_is_its_own_where_nobody_cleared_anything(lake: ToyLake) -> None:
    def broken(rows: DataFrame, name: str) -> Passed:
        raise FileNotFoundError("a fault of the gate's own")

    lake.epoch([fact("ann", 0)])
    with pytest.raises(FileNotFoundError, match="of the gate's own"):
        lake.build(broken)
