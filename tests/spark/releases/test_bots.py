"""A release knows a bot that the one before took for a person: history is judged anew, and every view with it."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from factories.web_lake import NOW
from pyspark.sql import SparkSession
from toy_code import changed_code
from toy_lake import Passed
from toy_log import ToyLog

from domains import web
from penstock.engine import daily, releasing
from penstock.engine.build import Batch
from penstock.engine.releasing import shaped
from penstock.lake import replays
from penstock.lake.code import unpacked
from penstock.lake.layout import Layout
from penstock.model.domain import code, domains
from penstock.serve.question import ask
from penstock.serve.reader import Reader
from penstock.settings import Settings

Session = Callable[[Path], AbstractContextManager[SparkSession]]
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
CRAWLER = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
READER = f"{BROWSER} AcmeReader/2.1"
# Every record here is of these views, or of what is made of them.
VIEWS = ("web.pageviews", "web.bots", "web.sessions", "web.visits")


def pageview(visitor: str, agent: str, page: str, minutes: float) -> dict[str, Any]:
    at = NOW - timedelta(days=40) + timedelta(minutes=minutes)
    event = {
        "type": "pageview", "site": "a.example", "visitor": visitor, "url": f"https://a.example{page}",
        "user_agent": agent, "happened_at": at.isoformat(),
    }  # fmt: skip
    return {"value": json.dumps(event).encode(), "id": f"{visitor}-{minutes}", "at": at}


HISTORY = [
    pageview("ann", BROWSER, "/x", 0), pageview("ann", BROWSER, "/y", 5), pageview("crawler", CRAWLER, "/x", 1),
    pageview("reader", READER, "/x", 2), pageview("reader", READER, "/z", 7), pageview("reader", READER, "/z", 60),
]  # fmt: skip


@pytest.fixture
def log(spark: SparkSession, settings: Settings) -> ToyLog:
    told = ToyLog(spark, Layout(settings.lake), "web.events")
    told.take(HISTORY)
    return told


@pytest.fixture(params=["by Spark", "by hands"])
def session(request: pytest.FixtureRequest, spark: SparkSession, settings: Settings) -> Session:
    """What a replay works with: Spark, whose workers have the release's code as well; or what the job opens for the
    web on one machine, which is no Spark."""

    @contextmanager
    def of_spark(folder: Path) -> Iterator[SparkSession]:
        with pytest.MonkeyPatch.context() as workers:
            workers.setitem(spark.sparkContext.environment, "PYTHONPATH", str(folder))
            yield spark

    @contextmanager
    def of_hands(folder: Path) -> Iterator[SparkSession]:
        with pytest.MonkeyPatch.context() as patched, releasing.session(settings, "web", folder, 2) as own:
            # So few facts nobody else would count, and nobody may open a session.
            patched.setattr(daily, "FEW_ROWS", 0)
            patched.setattr(releasing, "open_session", None)
            yield own

    return of_spark if request.param == "by Spark" else of_hands


def replayed(session: Session, settings: Settings, log: ToyLog, changed: str) -> str:
    """A release of the changed code."""
    asked = replays.Asked("web", changed, who="lina", why="a reader that is a bot", operation="replay/bots")
    release = replays.begin(log.layout, settings.home, asked)
    folder = unpacked(log.layout, settings.home, "web", release.hash)
    with code(folder), session(folder) as spark:
        shaped(spark, settings, release)
        views = [view for view in domains()["web"].views if view.name in VIEWS]
        Batch(spark, log.layout, release.about, lambda rows, name: Passed()).build(views)
    return release.about


def seen(log: ToyLog, release: str) -> dict[str, list[dict[str, Any]]]:
    reader = Reader(log.layout, fixed={"web": release})
    reader.refresh()
    asked = {"web.pageviews": "page", "web.bots": "browser", "web.visits": "", "web.sessions": None}
    range_ = [("from", (NOW - timedelta(days=50)).isoformat()), ("to", NOW.isoformat())]
    return {
        name: reader.answer(ask(reader.view(name), [*range_, *([("by", by)] if by else [])], NOW)).rows.to_pylist()
        for name, by in asked.items()
    }


def told(answers: dict[str, list[dict[str, Any]]]) -> dict[str, object]:
    (visits,) = answers["web.visits"]
    return {
        "views": {row["page"]: (row["views"], row["visitors"]) for row in answers["web.pageviews"]},
        "bots": sum(row["views"] for row in answers["web.bots"]),
        "visits": (visits["visits"], visits["bounces"], visits["views"]),
        "sessions": sorted((row["visitor"], row["views"]) for row in answers["web.sessions"]),
    }


def test_a_bot_that_a_release_knows_leaves_every_view_of_all_of_history(
    session: Session, settings: Settings, log: ToyLog, tmp_path: Path
) -> None:
    assert told(seen(log, "r1")) == {
        "views": {"/x": (2, 2), "/y": (1, 1), "/z": (2, 1)},
        "bots": 1,
        "visits": (3, 1, 5),
        "sessions": [("ann", 2), ("reader", 1), ("reader", 2)],
    }
    changed = changed_code(tmp_path, "known.py", '"scrapy"', '"scrapy", "acmereader"', Path(web.__file__).parent)
    assert told(seen(log, replayed(session, settings, log, changed))) == {
        "views": {"/x": (1, 1), "/y": (1, 1)},
        "bots": 4,
        "visits": (1, 0, 2),
        "sessions": [("ann", 2)],
    }
