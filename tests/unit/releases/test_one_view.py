"""A replay of one view: what is refused before it begins, what is taken over, and that no row is copied for it."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from toy_code import changed_code
from toy_lake import ToyLake, fact
from toy_log import ToyLog, said

from penstock.lake import views_anew
from penstock.lake.layout import Layout
from penstock.lake.place import Place
from penstock.lake.releases import Refused, registry
from penstock.lake.replays import Asked, begin, consider
from penstock.lake.taking import retake, take
from penstock.model.domain import Domain

VIEW = "toy.events_by_what"
LARGER = ("views.py", 'count("amount > 50")', 'count("amount > 70")')
SILVER = "toy.events"
Changed = Callable[[str, str, str], str]


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    return lambda file, old, new: changed_code(tmp_path, file, old, new)


@pytest.fixture
def lake(tmp_path: Path, toy: Domain) -> ToyLake:
    """Bronze, and silver that a live release made of it."""
    layout = Layout(str(tmp_path / "lake"))
    ToyLog(None, layout).take([said("ann"), said("bob")])
    lake = ToyLake(None, layout, toy)
    lake.epoch([fact("ann"), fact("bob", 70)])
    return lake


def asked(code: str, view: str = VIEW, **more: str) -> Asked:
    return Asked("toy", code, view=view, who="lina", why="a wrong bound", operation="replay/1", **more)


def test_a_plan_says_that_all_else_is_taken_over(lake: ToyLake, changed: Changed, tmp_path: Path) -> None:
    told = consider(lake.layout, tmp_path, asked(changed(*LARGER)))
    assert f"({VIEW} alone; facts and all other views are taken over): 2 records" in told


@pytest.mark.parametrize(
    ("change", "view", "more", "sentence"),
    [
        (LARGER, "toy.unheard", {}, "has no view 'toy.unheard'; there are: toy.events_by_what, "),
        (LARGER, "toy.now", {}, "changes other views as well: toy.events_by_what"),
        (("views.py", "minutes=5", "minutes=6"), VIEW, {}, "changes other views as well: toy.impulses"),
        (("views.py", ", NOW, IMPULSES)", ", NOW)"), VIEW, {}, "changes other views as well: toy.impulses"),
        (("shapes.py", "F.least(", "F.greatest("), VIEW, {}, r"may make other facts than r1 \(shapes.py\)"),
        (("model.py", '"how much of it"),', '"how much"), Field("more"),'), VIEW, {}, r"r1 \(SOURCES of model.py\)"),
        (LARGER, VIEW, {"first": "2026-03-02"}, "from all facts that there are. Leave out source and days"),
        (LARGER, VIEW, {"source": SILVER}, "from all facts that there are"),
    ],
    ids=[
        "unknown view", "another view", "a function", "a view is gone", "the shape", "a column", "days", "source"
    ],
)  # fmt: skip
def test_code_that_changes_more_than_the_view_is_refused(
    lake: ToyLake, tmp_path: Path, change: tuple[str, str, str], view: str, more: dict[str, str], sentence: str
) -> None:
    with pytest.raises(Refused, match=sentence):
        consider(lake.layout, tmp_path, asked(changed_code(tmp_path, *change), view, **more))
    assert list(registry(lake.layout, "toy").releases) == ["r1"]


def test_words_for_people_may_change_everywhere(lake: ToyLake, changed: Changed, tmp_path: Path) -> None:
    code = changed("model.py", "how much of it", "how many of them")
    assert "2 records" in consider(lake.layout, tmp_path, asked(code))


def test_a_view_without_facts_is_refused(tmp_path: Path, toy: Domain, changed: Changed) -> None:
    layout = Layout(str(tmp_path / "lake"))
    ToyLog(None, layout).take([said("ann")])
    with pytest.raises(Refused, match=f"r1 has no facts for {VIEW} yet"):
        consider(layout, tmp_path, asked(changed(*LARGER)))


def names_of(path: str) -> dict[str, int]:
    """Each file of a table and how many names it has on the disk."""
    return {file.name: file.stat().st_nlink for file in Path(path).rglob("*.parquet")}


def test_what_is_taken_over_is_the_same_with_its_history_and_shares_its_files(lake: ToyLake) -> None:
    lake.epoch([fact("eve", 1500)])
    theirs, ours = (lake.layout.silver(release, SILVER) for release in ("r1", "r2"))
    assert (take(theirs, ours), take(theirs, ours)) == (True, False)
    table = DeltaTable(ours)
    assert table.to_pyarrow_table().sort_by("offset").equals(DeltaTable(theirs).to_pyarrow_table().sort_by("offset"))
    assert DeltaTable(ours, version=1).to_pyarrow_table().num_rows == 2
    assert set(names_of(ours).values()) == {2}
    # Each goes its own way from here.
    lake.epoch([fact("zoe")])
    table.delete("who = 'eve'")
    assert [DeltaTable(path).to_pyarrow_table().num_rows for path in (theirs, ours)] == [4, 2]
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    assert DeltaTable(theirs).to_pyarrow_table().num_rows == 4
    retake(theirs, ours)
    assert DeltaTable(ours).to_pyarrow_table().num_rows == 4


@pytest.mark.parametrize("files", range(5))
def test_what_was_cut_short_is_taken_once_more(lake: ToyLake, monkeypatch: pytest.MonkeyPatch, files: int) -> None:
    lake.epoch([fact("eve", 1500)])
    theirs, ours = (lake.layout.silver(release, SILVER) for release in ("r1", "r2"))
    have, left = Place.have, iter(range(files))

    def dying(self: Place, name: str, of: Place) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        have(self, name, of)

    with monkeypatch.context() as killed:
        killed.setattr(Place, "have", dying)
        with pytest.raises(KeyboardInterrupt):
            take(theirs, ours)
    take(theirs, ours)
    assert DeltaTable(ours).to_pyarrow_table().num_rows == 3


def test_what_the_live_release_gains_after_it_was_taken_over_is_left_to_builds(
    lake: ToyLake, changed: Changed, tmp_path: Path
) -> None:
    """A view that is newer than the facts would hide those that come."""
    ours, code = asked(changed(*LARGER)), lake.layout.gold("r2", "toy.now")
    begin(lake.layout, tmp_path, ours)
    write_deltalake(lake.layout.gold("r1", "toy.now"), pa.table({"who": ["ann"]}))
    lake.epoch([fact("eve")])
    begin(lake.layout, tmp_path, ours)
    assert (Path(code).exists(), DeltaTable(lake.layout.silver("r2", SILVER)).to_pyarrow_table().num_rows) == (False, 2)


def test_views_that_were_taken_before_facts_were_are_taken_once_more(
    lake: ToyLake, changed: Changed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = (lake.layout.gold(release, "toy.now") for release in ("r1", "r2"))
    write_deltalake(theirs, pa.table({"who": ["ann"]}))
    with monkeypatch.context() as killed:
        killed.setattr(views_anew, "retake", lambda theirs, ours: None if "silver" in ours else retake(theirs, ours))
        begin(lake.layout, tmp_path, asked(changed(*LARGER)))
    write_deltalake(theirs, pa.table({"who": ["bob"]}), mode="append")
    begin(lake.layout, tmp_path, asked(changed(*LARGER)))
    assert DeltaTable(ours).to_pyarrow_table().num_rows == 2
