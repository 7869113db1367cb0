"""A rewind that is killed is ended by the same call; a point that cannot be gone back to is refused in a sentence."""

import shutil
from dataclasses import replace
from typing import Any

import pytest
from toy_lake import ToyLake, answers, fact

from penstock.engine import rewind as rewinding
from penstock.engine.pinning import take
from penstock.engine.shape import Shape
from penstock.engine.ways import CannotRewind, ways
from penstock.lake import restore_points, rewinds
from penstock.lake.restore_points import NoSuchPoint, RestorePoint

TABLES = 6


@pytest.fixture
def point(lake: ToyLake) -> RestorePoint:
    """A moment after which one more fact came."""
    taken = take(lake.layout, "hand", "test", "a good moment")
    lake.epoch([fact("eve", 11)])
    return taken


@pytest.mark.parametrize("steps", (0, 2, TABLES))
def test_a_rewind_that_was_killed_is_ended_by_the_same_call(
    lake: ToyLake, point: RestorePoint, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    left, go = iter(range(steps)), rewinding.go

    def killed(*step: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        go(*step)

    with monkeypatch.context() as patch:
        patch.setattr(rewinding, "go", killed)
        patch.setattr(rewinding, "complete", killed)
        with pytest.raises(KeyboardInterrupt):
            rewinding.rewind(lake.layout, point, "toy", "test", "to see")
    with pytest.raises(rewinds.Unfinished, match="penstock rewind"):
        Shape(lake.domain.sources[0], lake.layout, "r1").prepare()
    rewinding.rewind(lake.layout, point, "toy", "test", "to see")
    assert (lake.rows("toy.events_by_what", by="what"), rewinds.unfinished(lake.layout, "toy")) != ([], None)
    assert sum(row["events"] for row in lake.rows("toy.events_by_what")) == 3


def test_a_rewind_is_undone_by_another_one(lake: ToyLake, point: RestorePoint) -> None:
    now = answers(lake)
    went = rewinding.rewind(lake.layout, point, "toy", "test", "to see")
    assert answers(lake) != now
    rewinding.rewind(lake.layout, restore_points.find(lake.layout, went.saved), "toy", "test", "and back")
    assert answers(lake) == now


def test_partials_that_a_point_came_too_early_for_are_added(lake: ToyLake) -> None:
    now = answers(lake)
    taken = take(lake.layout, "hand", "test", "between silver and speed")
    lacking = "speed/r1/toy.events_by_what"
    pin = taken.tables[lacking]
    early = {**taken.tables, lacking: replace(pin, version=pin.version - 1)}
    lake.epoch([fact("eve", 11)])
    point = replace(taken, tables=early)
    rewinding.rewind(lake.layout, point, "toy", "test", "to see")
    assert answers(lake) == now


def test_a_point_whose_table_is_gone_or_was_made_anew_is_refused(lake: ToyLake, point: RestorePoint) -> None:
    shutil.rmtree(lake.layout.speed("r1", "toy.now"))
    with pytest.raises(CannotRewind, match=r"toy\.now was deleted since"):
        ways(lake.layout, point, "toy")
    lake.commit(2)
    with pytest.raises(CannotRewind, match=r"toy\.now was made anew since"):
        ways(lake.layout, point, "toy")


def test_a_point_that_there_is_not_names_those_that_there_are(lake: ToyLake, point: RestorePoint) -> None:
    with pytest.raises(NoSuchPoint, match=point.id):
        restore_points.find(lake.layout, "yesterday")
