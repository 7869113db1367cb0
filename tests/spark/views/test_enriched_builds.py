"""Page views by what their users' profiles had said: streams, builds and a replay by Spark give the same rows."""

import json
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from deltalake import DeltaTable
from factories.profiles import EVENTS, USERS, VIEW, Told, epochs
from pyspark.sql import SparkSession
from toy_lake import Passed
from toy_log import ToyLog

from domains.web.views import PAGEVIEWS, VIEWS_BY_PROFILE
from penstock.engine.build import Batch
from penstock.engine.matching import named
from penstock.engine.publish import Refused
from penstock.engine.replay import Replay
from penstock.engine.retraction import retract, settled
from penstock.engine.scope import Scope
from penstock.engine.shape import Shape
from penstock.lake.layout import Layout
from penstock.model.domain import source
from penstock.serve.question import ask
from penstock.serve.reader import Reader
from penstock.settings import Settings

from .conftest import BY_SPARK

ARRIVED = datetime(2026, 3, 6, tzinfo=UTC)


@pytest.fixture
def layout(settings: Settings) -> Layout:
    return Layout(settings.lake)


@pytest.fixture
def logs(spark: SparkSession, layout: Layout) -> dict[str, ToyLog]:
    return {name: ToyLog(spark, layout, name) for name in (USERS, EVENTS)}


def take(logs: dict[str, ToyLog], told: Told) -> None:
    values = [{name: value for name, value in event.items() if value is not None} for event in told.events]
    logs[told.source].take([{"value": json.dumps(value).encode(), "at": ARRIVED} for value in values])


def build(spark: SparkSession, layout: Layout, release: str = "r1", **how: Any) -> None:
    Batch(spark, layout, release, lambda rows, name: Passed()).build([VIEWS_BY_PROFILE], **how)


def rows(layout: Layout, release: str = "r1") -> list[dict[str, Any]]:
    reader = Reader(layout, fixed={"web": release})
    reader.refresh()
    asked = {"from": "2026-01-01", "to": "2026-12-31", "by": "site,user_region,user_plan", "every": "1 hour"}
    told = reader.answer(ask(reader.view(VIEW), list(asked.items()), ARRIVED)).rows.to_pylist()
    return sorted(told, key=str)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("way", [BY_SPARK], indirect=True)
def test_streams_builds_and_a_replay_in_other_epochs_agree(
    spark: SparkSession, layout: Layout, logs: dict[str, ToyLog], monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(5)  # noqa: S311
    told = list(epochs(5, 12))
    for each in told[:7]:
        take(logs, each)
    build(spark, layout)
    for each in told[7:]:
        take(logs, each)
    merged = rows(layout)
    assert len({row["user_region"] for row in merged}) == 3
    build(spark, layout)
    assert rows(layout) == merged
    build(spark, layout, full=True)
    assert rows(layout) == merged
    for name in (EVENTS, USERS):
        monkeypatch.setattr("penstock.engine.replay.EPOCH_RECORDS", chance.randrange(3, 20))
        Replay(spark, Shape(source(name), layout, "r2"), scope=Scope("r1")).run()
    build(spark, layout, "r2")
    assert rows(layout, "r2") == merged


def test_a_build_waits_for_what_facts_were_joined_with(
    spark: SparkSession, layout: Layout, logs: dict[str, ToyLog]
) -> None:
    for each in epochs(5, 12):
        take(logs, each)
    before = rows(layout)
    DeltaTable(layout.silver("r1", USERS)).delete("true")
    with pytest.raises(Refused, match=rf"{VIEW} was not built: \d+ records of {USERS}"):
        Batch(spark, layout, "r1", lambda rows, name: Passed()).build([PAGEVIEWS, VIEWS_BY_PROFILE])
    assert rows(layout) == before
    assert DeltaTable(layout.gold("r1", PAGEVIEWS.name)).version() >= 0


def test_a_profile_that_is_retracted_is_taken_out_of_every_day(
    spark: SparkSession, layout: Layout, logs: dict[str, ToyLog]
) -> None:
    for each in epochs(5, 12):
        take(logs, each)
    build(spark, layout)
    assert {row["user_region"] for row in rows(layout)} == {"north", "south", None}
    said = settled(
        layout, source(USERS), named("op", source(USERS), "region = 'north'", "", "", "", "lina", "it was wrong")
    )
    retract(spark, layout, source(USERS), said, lambda release: lambda rows, name: Passed())
    assert {row["user_region"] for row in rows(layout)} == {"south", None}
