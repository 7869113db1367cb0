"""A replay without Spark: processes of this machine make many epochs, and the rows are those of the live release."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from dying import dies_at
from pyspark.sql import SparkSession
from toy_log import ToyLog, arriving, silver

from penstock.engine import releasing
from penstock.engine.commit import Appender
from penstock.engine.replay import Judged, _behind
from penstock.lake import replays
from penstock.lake.layout import Layout
from penstock.lake.releases import Release
from penstock.settings import Settings

RECORDS, EPOCH = 150, 20


def event(chance: Random, at: datetime, nth: int) -> dict[str, Any]:
    happened = at - timedelta(minutes=9 * chance.random())
    told = {"type": "pageview", "site": "a.example", "visitor": f"v{chance.randrange(6)}", "url": "https://a.example/"}
    return {"value": json.dumps({**told, "happened_at": happened.isoformat()}).encode(), "id": f"e{nth}"}


@pytest.fixture
def log(spark: SparkSession, settings: Settings) -> ToyLog:
    """Good, repeated, colliding, incomplete and broken page views, and their live release."""
    chance = Random(11)  # noqa: S311
    told = arriving(chance, RECORDS, lambda at, nth: event(chance, at, nth))
    log = ToyLog(spark, Layout(settings.lake), "web.events")
    for start in range(0, RECORDS, 30):
        log.take(told[start : start + 30])
    return log


@pytest.fixture
def replay(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Release]:
    """Silver of a release by the code that is deployed, where nobody may open a session."""
    monkeypatch.setattr("penstock.engine.replay.EPOCH_RECORDS", EPOCH)
    monkeypatch.setattr(releasing, "open_session", None)
    asked = replays.Asked("web", "", who="lina", why="to see", operation="replay/hands")

    def run() -> Release:
        release = replays.begin(Layout(settings.lake), settings.home, asked)
        with releasing.session(settings, "web", Path(), 2) as own:
            releasing.shaped(own, settings, release)
        return release

    return run


def test_many_epochs_have_the_live_release_s_rows_also_after_a_death(
    log: ToyLog, replay: Callable[[], Release], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(Appender, "add", dies_at(2))
        with pytest.raises(KeyboardInterrupt):
            replay()
    done = silver(log, "r2").num_rows
    replay()
    live = silver(log, "r1")
    assert 0 < done < live.num_rows
    assert silver(log, "r2").equals(live)
    assert {*live["disposition"].to_pylist()} == {"fact", "rejected", "duplicate"}


def test_epochs_come_in_turn_and_no_more_than_two_are_begun_after_one_that_is_waited_for() -> None:
    began = list[int]()

    def epochs(number: int) -> Iterator[Judged]:
        for each in range(number):
            began.append(each)
            yield Judged(each, each, {"rows": 0}, list)

    assert [epoch.number for epoch in _behind(epochs(5), 2)] == [0, 1, 2, 3, 4]
    began.clear()
    assert next(_behind(epochs(5), 2)).number == 0
    assert began == [0, 1, 2]
