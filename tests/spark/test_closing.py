"""A closed day has each event id once, however far apart the copies came; only late facts open it again."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from toy_lake import Passed, ToyLake, answers, fact, silver_rows

from penstock.engine import closing, retraction
from penstock.engine.closing import close
from penstock.lake import days, exact
from penstock.lake.layout import Layout
from penstock.model.domain import Domain

DAY, NEXT = date(2026, 3, 2), date(2026, 3, 3)
LATER = datetime(2026, 3, 9, 12, tzinfo=UTC)
TOLD = fact("ann", 1), fact("bob", 2), fact("ann", 1450)


def told(lake: ToyLake, *facts: Mapping[str, Any]) -> None:
    """An epoch of facts, each with an id of its own unless it says one."""
    lake.write(silver_rows(list(facts), len(lake.epochs), sum(map(len, lake.epochs))))


def copy(of: str, content: int, **said: Any) -> dict[str, Any]:
    """A fact that was sent again after the stream had forgotten it."""
    return {**fact(**said), "event_id": of, "content_hash": content, "logged_at": LATER}


def exactly(lake: ToyLake) -> list[date]:
    assert lake.spark
    return close(lake.spark, lake.layout, lake.release, lake.domain.sources[0], lambda rows, table: Passed())


def final(lake: ToyLake) -> dict[date, bool]:
    """What the days' own check says of those that it had to look at."""
    source, views = lake.domain.sources[0], [view.name for view in lake.domain.views]
    return {day.day: day.final for day in days.close(lake.layout, lake.release, source.name, views, NEXT)}


@pytest.fixture
def late(lake: ToyLake, toy: Domain, monkeypatch: pytest.MonkeyPatch) -> ToyLake:
    """Facts of two days, then a copy and a collision that the stream did not notice, and a fact of its own."""
    # How every view is built again is seen by the tests of retractions; here one is enough.
    lake.domain = replace(toy, views=toy.views[:1])
    for module in (retraction, closing):
        monkeypatch.setattr(module, "views_of", lambda source: lake.domain.views)
    told(lake, *TOLD)
    told(lake, copy("e0", 0, who="ann", minutes=1), copy("e1", 9, who="bob", minutes=2), fact("eve", 3))
    return lake


def rows(lake: ToyLake) -> list[dict[str, Any]]:
    table = DeltaTable(lake.layout.silver(lake.release, lake.domain.sources[0].name)).to_pyarrow_table()
    return table.sort_by("offset").to_pylist()


def test_late_copies_become_duplicates_and_collisions_and_their_day_is_built_again_and_final(
    late: ToyLake, tmp_path: Path
) -> None:
    late.build()
    once = ToyLake(None, Layout(str(tmp_path / "once")), late.domain)
    told(once, *TOLD)
    once.write(silver_rows([fact("eve", 3)], 1, 5))
    assert exactly(late) == [DAY]
    assert [(row["disposition"], row["reason"]) for row in rows(late)[3:]] == [
        ("duplicate", None), ("rejected", "id_collision"), ("fact", None),
    ]  # fmt: skip
    assert answers(late) == answers(once)
    assert (exactly(late), final(late)) == ([], {DAY: True, NEXT: True})
    told(late, fact("ann", 5))
    exact.note(late.layout, late.release, late.domain.sources[0].name, len(late.epochs) - 1)
    # Its view lacks the late fact.
    assert final(late) == {DAY: False}


def test_what_was_cut_short_before_its_days_were_built_is_done_again(
    late: ToyLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Any] = []

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(closing, "rebuilt", killed)
    with pytest.raises(KeyboardInterrupt):
        exactly(late)
    assert exact.up_to(late.layout, "r1", "toy.events") == -1
    monkeypatch.setattr(closing, "rebuilt", lambda *asked: built.append(asked[4].days))
    assert (exactly(late), built) == ([DAY], [[str(DAY)]])
