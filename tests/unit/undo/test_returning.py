"""A rewind as an operator asks for it: of one domain or of the whole lake, done once however often it is asked for."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from toy_lake import ToyLake, fact
from web_lake import WebLake

from penstock.engine import returning
from penstock.engine.pinning import take
from penstock.engine.returning import ALL, go_back, text
from penstock.engine.ways import CannotRewind
from penstock.lake import restore_points
from penstock.lake.audit import entries
from penstock.lake.restore_points import RestorePoint
from penstock.lake.rewinds import rewinds
from penstock.settings import Settings

SILVERS = {"toy": "toy.events", "web": "web.events"}


class Lake:
    """Two domains in one lake; one fact more of each came after the point."""

    def __init__(self, toy: ToyLake) -> None:
        self.layout, self.toy = toy.layout, toy
        self.web = WebLake(toy.layout, only=("web.pageviews",))
        self.grow()
        self.point: RestorePoint = take(self.layout, "hand", "test", "a good moment")
        self.grow()

    def grow(self) -> None:
        self.toy.epoch([fact("eve", 11)])
        self.web.tell([pageview()])

    def rows(self) -> dict[str, int]:
        paths = {name: self.layout.silver("r1", source) for name, source in SILVERS.items()}
        return {name: DeltaTable(path).to_pyarrow_dataset().count_rows() for name, path in paths.items()}


def pageview() -> dict[str, Any]:
    now = datetime(2026, 3, 2, tzinfo=UTC).isoformat()
    return {"type": "pageview", "site": "a.example", "visitor": "v1", "url": "https://a.example/x", "happened_at": now}


@pytest.fixture
def both(lake: ToyLake, monkeypatch: pytest.MonkeyPatch) -> Lake:
    # No broker is behind these settings: the log has whatever came after the point.
    monkeypatch.setattr(returning, "gaps", lambda *_: iter(()))
    return Lake(lake)


@pytest.fixture
def own(lake: ToyLake, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, lake=lake.layout.root, kafka="")


def ask(own: Settings, domain: str, point: str, operation: str = "rewind/1") -> str:
    return go_back(own, domain, point, operation, "lina", "a mistake", "omar")


def test_the_whole_lake_goes_back_in_one_operation_and_comes_again_in_another(both: Lake, own: Settings) -> None:
    now = both.rows()
    plan = text(own, ALL, both.point.id)
    assert all(f"| silver/r1/{name} |" in plan for name in SILVERS.values())
    told = ask(own, ALL, both.point.id)
    assert both.rows() == {"toy": now["toy"] - 1, "web": now["web"] - 1}
    (entry,) = entries(both.layout)
    assert (entry.what, entry.about, entry.approved_by) == ("rewind", ALL, "omar")
    assert f"the lake (toy, web) is at {both.point.id}" in told
    # What was saved first is the whole lake before any of it went.
    ask(own, ALL, entry.before["restore_point"], "rewind/2")
    assert both.rows() == now


def test_one_domain_goes_back_alone(both: Lake, own: Settings) -> None:
    now = both.rows()
    ask(own, "toy", both.point.id)
    assert both.rows() == {**now, "toy": now["toy"] - 1}


def test_no_domain_goes_where_one_cannot(both: Lake, own: Settings) -> None:
    now = both.rows()
    shutil.rmtree(both.layout.speed("r1", "web.pageviews"))
    with pytest.raises(CannotRewind, match="was deleted since"):
        ask(own, ALL, both.point.id)
    assert (both.rows(), rewinds(both.layout)) == (now, [])


@pytest.mark.parametrize("died", ["second domain", "audit"])
def test_a_rewind_of_the_lake_that_was_killed_does_what_is_left(
    both: Lake, own: Settings, monkeypatch: pytest.MonkeyPatch, died: str
) -> None:
    before = both.rows()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        if died == "audit":
            patch.setattr(returning.audit, "record", dies_at(1, returning.audit.record))
        else:
            patch.setattr(returning, "rewind", dies_at(2, returning.rewind))
        ask(own, ALL, both.point.id)
    # The streams of what has gone back already go on, and shape what came since.
    both.toy.epoch([fact("eve", 11)])
    ask(own, ALL, both.point.id)
    assert both.rows() == {"toy": before["toy"], "web": before["web"] - 1}
    (entry,) = entries(both.layout)
    saved = restore_points.find(both.layout, entry.before["restore_point"])
    assert saved.tables["silver/r1/toy.events"].version == both.point.tables["silver/r1/toy.events"].version + 1
    assert len(rewinds(both.layout)) == 2


def dies_at(nth: int, step: Any) -> Any:
    calls = iter(range(1, 100))

    def dying(*asked: Any, **named: Any) -> Any:
        if next(calls) == nth:
            raise KeyboardInterrupt
        return step(*asked, **named)

    return dying
