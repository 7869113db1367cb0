"""A release that nobody reads can be dropped, and the one that people read never."""

from pathlib import Path

import pytest
from toy_lake import ToyLake, fact

from penstock.engine.dropping import drop, plan
from penstock.engine.lease import take
from penstock.lake.audit import Entry, entries
from penstock.lake.layout import Layout
from penstock.lake.releases import READY, Refused, Release, registry, say, switch
from penstock.model.domain import Domain

DROP = Entry("drop/1", "drop", "toy", "lina", "nobody needs it", "omar", {"release": "r2"})


@pytest.fixture
def layout(tmp_path: Path, toy: Domain) -> Layout:
    layout = Layout(str(tmp_path / "lake"))
    for release in ("r1", "r2"):
        ToyLake(None, layout, toy, release=release).epoch([fact(), fact("bob")])
    say(layout, Release("toy", "r2", READY, code="git abc"))
    return layout


def left(layout: Layout, release: str) -> list[str]:
    return sorted(path.parts[-4] for path in Path(layout.root).glob(f"*/{release}/*/_delta_log"))


def test_the_plan_says_what_would_go(layout: Layout) -> None:
    assert plan(layout, "toy", "r2").startswith("toy r2 (ready; code: git abc) has 12 rows in")


def test_its_tables_go_and_its_story_stays(layout: Layout, tmp_path: Path) -> None:
    assert [drop(layout, tmp_path, DROP, "r2") for _ in range(2)] == ["toy r2 was dropped"] * 2
    assert (left(layout, "r2"), len(left(layout, "r1")) > 1) == ([], True)
    assert [(each.what, each.approved_by) for each in entries(layout)] == [("drop", "omar")]
    with pytest.raises(Refused, match=r"tables are gone\. Replay its code"):
        switch(layout, "toy", "r2", "lina", "why")


def test_what_people_read_is_never_dropped(layout: Layout, tmp_path: Path) -> None:
    switch(layout, "toy", "r2", "lina", "why")
    with pytest.raises(Refused, match="toy r2 is what people read"):
        drop(layout, tmp_path, DROP, "r2")


def test_a_release_whose_driver_lives_is_told_and_waited_for(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engine.dropping.PATIENCE", 0.1)
    with take(tmp_path / "run" / "leases", "shape-toy.events-r2"), pytest.raises(Refused, match="drop it again"):
        drop(layout, tmp_path, DROP, "r2")
    assert registry(layout, "toy").kept == ["r1"]
    drop(layout, tmp_path, DROP, "r2")
    assert left(layout, "r2") == []
