"""One view by other code, from the facts that there are; everything else of the release is what it was."""

from collections.abc import Callable
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from toy_lake import Passed
from toy_log import SHAPE, ToyLog, answers, said, silver, traffic

from penstock.engine import checkpoints
from penstock.engine.build import Batch, Built
from penstock.engine.epoch import Epoch
from penstock.engine.matching import named as retracting
from penstock.engine.retraction import mark, settled
from penstock.engine.shape import Shape
from penstock.lake.publication import cut_of
from penstock.lake.records import COLUMNS
from penstock.lake.releases import PREVIOUS, READY, Release, registry
from penstock.lake.switching import switched
from penstock.model.domain import domains
from penstock.model.domain import source as source_of
from penstock.serve.compare.comparison import compare
from penstock.settings import Settings

VIEW, OTHER = "toy.events_by_what", "toy.everything"
LARGER = ("views.py", 'count("amount > 50")', 'count("amount > 70")')
Replay = Callable[..., Release]


@pytest.fixture
def live(log: ToyLog, spark: SparkSession, toy: Any) -> ToyLog:
    """A live release whose views were built, and an epoch that came since."""
    told = traffic(5, 90)
    log.take(told[:60])
    Batch(spark, log.layout, "r1", lambda rows, name: Passed()).build(toy.views)
    log.take(told[60:])
    return log


def large(log: ToyLog, release: str) -> list[int]:
    return [row["large"] for row in answers(log, release)[VIEW]]


def test_only_the_view_changes_and_it_is_compared_switched_and_reverted(
    live: ToyLog, replay: Replay, changed: Callable[..., str], settings: Settings
) -> None:
    before = answers(live)
    replay(changed(*LARGER), view=VIEW, views=True)
    assert registry(live.layout, "toy").get("r2").state == READY
    assert silver(live, "r2").equals(silver(live, "r1"))
    compared = compare(live.layout, settings.home, "toy", "r1", "r2")
    assert [change.view for change in compared.views if not change.same] == [VIEW]
    assert {name for name, size in compared.views[0].measures.items() if size.share} == {"large", "large_share"}
    amounts = [row["amount"] for row in silver(live, "r1").to_pylist() if row["disposition"] == "fact"]
    seen = []
    for number, to in enumerate(("r2", PREVIOUS, "r2")):
        switched(live.layout, "toy", to, "lina", "a wrong bound", "omar", f"switch/{number}")
        seen.append((sum(large(live, "")), {**answers(live), VIEW: before[VIEW]} == before))
    wide, narrow = (sum(amount > bound for amount in amounts) for bound in (70, 50))
    assert seen == [(wide, True), (narrow, True), (wide, True)]


def test_only_the_view_is_built_as_a_whole(
    live: ToyLog, replay: Replay, changed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    built, begun = dict[str, Any](), Batch._begun

    def watched(self: Batch, view: Any, *how: Any) -> Any:
        work = begun(self, view, *how)
        built[view.name] = work and work.since
        return work

    monkeypatch.setattr(Batch, "_begun", watched)
    replay(changed(*LARGER), view=VIEW, views=True)
    assert (built[VIEW], built[OTHER]) == (None, 0)
    assert [cut_of(live.layout, "r2", name, live.source) for name in (VIEW, OTHER)] == [1, 1]


def test_its_stream_goes_on_after_what_was_taken_over(
    live: ToyLog, replay: Replay, changed: Callable[..., str], spark: SparkSession, settings: Settings
) -> None:
    release = replay(changed(*LARGER), view=VIEW, views=True)
    place = checkpoints.places(live.layout, live.source, "r2")[1]
    assert (checkpoints.examine(place), checkpoints.wanted(place)) == ("", live.ends)
    live.take([said("ann", "buy", 60), said("ann", "buy", 80)])
    records = DeltaTable(live.layout.bronze(live.source)).to_pyarrow_table()
    newest = records.filter(records["epoch"].to_numpy() == 2).select(list(COLUMNS))
    shape = Shape(source_of(live.source), live.layout, "r2")
    shape.prepare()
    shape.epoch(shape.plan(spark.createDataFrame(newest).coalesce(1)), Epoch(SHAPE, 2, 2))
    shape.behind.settle()
    assert silver(live, "r2").equals(silver(live, "r1"))
    assert release.view == VIEW


def test_what_is_stated_while_it_is_made_holds_for_it_too(
    live: ToyLog, replay: Replay, changed: Callable[..., str], spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of records that came since; and views that were taken over are built again."""
    built, build = list[bool](), Batch.build
    source, path = source_of(live.source), live.layout.silver("r1", live.source)

    def stating(batch: Batch, views: Any, full: bool = False, **how: Any) -> list[Built]:
        if not built:
            live.take([said("zoe", amount=99, id="z")])
            mark(
                spark, path, source, settled(live.layout, source, retracting("one", source, "amount > 90", "", "", ""))
            )
        built.append(full)
        return build(batch, views, full=full, **how)

    monkeypatch.setattr(Batch, "build", stating)
    replay(changed(*LARGER), view=VIEW, views=True)
    assert silver(live, "r2").equals(silver(live, "r1"))
    batch = Batch(spark, live.layout, "r1", lambda rows, name: Passed())
    # Its last epoch has no fact left.
    batch.least = 2
    build(batch, domains()["toy"].views, full=True)
    assert built[:2] == [False, True]
    ours, theirs = answers(live, "r2"), answers(live, "r1")
    assert {**ours, VIEW: theirs[VIEW]} == theirs


def test_one_that_was_killed_among_its_views_goes_on(
    live: ToyLog, replay: Replay, changed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(Batch, "build", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            replay(changed(*LARGER), view=VIEW, views=True)
    replay(changed(*LARGER), view=VIEW, views=True)
    before = answers(live, "r1")
    assert {**answers(live, "r2"), VIEW: before[VIEW]} == before
