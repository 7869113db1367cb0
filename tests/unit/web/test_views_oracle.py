"""From a seed: traffic of the simulated site in epochs of any size. Every web view equals plain SQL over the facts."""

import os
from datetime import UTC, datetime
from itertools import islice
from random import Random
from typing import Any

import duckdb
import pytest
from factories.web_lake import WebLake
from oracle import web_views

from domains.web.simulation import events
from domains.web.views import VIEWS
from penstock.lake.layout import Layout

SEEDS = range(200 if os.environ.get("PENSTOCK_FULL") else 1)
# A month with the hour that summer time leaves out, at a rate at which visitors come back.
START = datetime(2026, 3, 20, tzinfo=UTC)
SHOWN = {"web.same_person": ["a", "b", "at", "event_id"]}


@pytest.fixture(scope="module", params=SEEDS)
def lake(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> WebLake:
    lake = WebLake(Layout(str(tmp_path_factory.mktemp("lake") / "lake")))
    told(lake, request.param)
    return lake


def told(lake: WebLake, seed: int, number: int = 1500, built: Any = lambda: None) -> None:
    """Traffic in the order in which it is sent: phones that were offline are hours late."""
    chance = Random(seed)  # noqa: S311
    sent = list(islice(events(seed, START, 0.002), number))
    while sent:
        size = chance.randint(50, 700)
        epoch, sent = sent[:size], sent[size:]
        for name in ("web.users", "web.events", "web.identities"):
            lake.tell([one.event for one in epoch if one.source == name], name)
        built()


@pytest.mark.parametrize("every", ["", "hour", "day"])
@pytest.mark.parametrize("view", web_views.TALLIES)
def test_a_tally_equals_the_oracle(lake: WebLake, view: str, every: str) -> None:
    keys = web_views.TALLIES[view][0].replace(" ", "").replace('"', "")
    asked = {"by": keys, "limit": "10000", **({"every": f"1 {every}"} if every else {})}
    answer = lake.answer(view, **asked).rows.drop_columns(
        [name for name in web_views.NOT_EXACT if view == "web.pageviews_by_region"]
    )
    assert numbers(answer.to_pylist()) == numbers(oracle(lake, web_views.tally(view, every)))


@pytest.mark.parametrize("view", web_views.ROWS)
def test_a_view_by_key_equals_the_oracle(lake: WebLake, view: str) -> None:
    rows = lake.answer(view, limit="10000").rows.to_pylist()
    assert numbers(rows) == numbers(oracle(lake, web_views.by_key(view)))


def test_every_web_view_has_its_oracle() -> None:
    assert {view.name for view in VIEWS} == {*web_views.TALLIES, *web_views.ROWS}


def oracle(lake: WebLake, sql: str) -> list[dict[str, Any]]:
    with duckdb.connect(":memory:") as engine:
        engine.execute("set TimeZone = 'UTC'")
        engine.register("facts", lake.facts())
        engine.register("users", lake.facts("web.users"))
        engine.register("identities", lake.facts("web.identities"))
        return list(engine.sql(sql).to_arrow_table().to_pylist())


def numbers(rows: list[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
    """Rows without an order of their own; means to nine digits, whichever way they were added up."""
    plain = [sorted((name, round(it, 9) if isinstance(it, float) else it) for name, it in row.items()) for row in rows]
    return sorted(plain, key=repr)
