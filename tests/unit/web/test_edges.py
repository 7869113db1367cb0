"""The published definitions at their edges, each by a few hand-made events."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from factories.web_lake import WebLake
from unit.web.test_reports import MONDAY, event

from penstock.lake.layout import Layout

DAY = 24 * 60


@pytest.fixture
def lake(tmp_path: Path) -> WebLake:
    views = ("web.pageviews", "web.pageviews_by_region", "web.sessions", "web.bots")
    return WebLake(Layout(str(tmp_path / "lake")), only=views)


def by_day(lake: WebLake, view: str, measure: str, **said: str) -> dict[str, Any]:
    rows = lake.rows(view, every="1 day", order="bucket", **said)
    return {str(row["bucket"].astimezone(MONDAY.tzinfo).date()): row[measure] for row in rows}


def test_a_visit_over_midnight_counts_once_on_the_day_it_began(lake: WebLake) -> None:
    lake.tell([event(minutes=DAY - 10), event(minutes=DAY + 10)])
    assert by_day(lake, "web.visits", "visits") == {"2026-03-02": 1}
    assert by_day(lake, "web.pageviews", "views") == {"2026-03-02": 1, "2026-03-03": 1}


@pytest.mark.parametrize(
    ("midnight", "hours"),
    [(datetime(2026, 3, 28, 23, tzinfo=UTC), 23), (datetime(2026, 10, 24, 22, tzinfo=UTC), 25)],
    ids=["begins", "ends"],
)
def test_a_day_has_an_hour_less_when_summer_time_begins_and_one_more_when_it_ends(
    lake: WebLake, midnight: datetime, hours: int
) -> None:
    # An event in each hour from midnight in Stockholm to the midnight after the next day.
    since = (midnight - MONDAY) / timedelta(minutes=1)
    lake.tell([event(minutes=since + 60 * hour) for hour in range(hours + 24)])
    said = {"order": "bucket", "tz": "Europe/Stockholm"}
    assert [row["views"] for row in lake.rows("web.pageviews", every="1 day", **said)] == [hours, 24]
    # The hour that the clock shows twice is two.
    assert [row["views"] for row in lake.rows("web.pageviews", every="1 hour", **said)] == [1] * (hours + 24)


@pytest.mark.parametrize(("minutes", "visits"), [(30 - 1 / 60, 1), (30, 2)])
def test_a_session_ends_after_thirty_minutes_of_silence(lake: WebLake, minutes: float, visits: int) -> None:
    lake.tell([event(), event(minutes=minutes)])
    assert lake.rows("web.visits")[0]["visits"] == visits


def test_a_late_event_joins_the_two_sessions_it_stands_between(lake: WebLake) -> None:
    lake.tell([event(), event(minutes=50)])
    assert [(row["visits"], row["bounces"]) for row in lake.rows("web.visits")] == [(2, 2)]
    lake.tell([event(minutes=25)])
    row = lake.rows("web.visits")[0]
    assert (row["visits"], row["bounces"], row["duration"], row["views"]) == (1, 0, 3000, 3)


@pytest.mark.parametrize(("kind", "bounces"), [("pageview", 1), ("engagement", 1), ("event", 0)])
def test_reading_a_page_is_a_bounce_and_doing_something_is_none(lake: WebLake, kind: str, bounces: int) -> None:
    second = [] if kind == "pageview" else [event(minutes=1, type=kind, name="booking", engaged_ms=10)]
    lake.tell([event(), *second])
    assert lake.rows("web.visits")[0]["bounces"] == bounces


def test_one_visitor_on_two_sites_is_a_visitor_of_each(lake: WebLake) -> None:
    lake.tell([event(), event(minutes=1, site="docs.harbour.example")])
    assert [row["visitors"] for row in lake.rows("web.pageviews", by="site")] == [1, 1]
    assert lake.rows("web.pageviews")[0]["visitors"] == 1


def test_a_known_bot_is_in_its_own_view_and_in_no_other(lake: WebLake) -> None:
    lake.tell([event("robot", user_agent="Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")])
    assert lake.rows("web.bots", by="browser")[0] | {"views": 1} == {"browser": "Googlebot", "views": 1}
    assert lake.rows("web.pageviews") + lake.rows("web.visits") == []


def test_windows_that_overlap_tell_of_the_minutes_before_them(lake: WebLake) -> None:
    lake.tell([event(minutes=minutes, region="Hamburg") for minutes in (0, 1, 1, 9)])
    hour = {"from": MONDAY.isoformat(), "to": (MONDAY + timedelta(hours=1)).isoformat()}
    asked = {"every": "1 minute", "over": "3 minutes", "by": "region", "order": "bucket", **hour}
    rows = lake.rows("web.pageviews_by_region", **asked)
    told = {int((row["bucket"] - MONDAY) / timedelta(minutes=1)): row["views"] for row in rows if row["views"]}
    assert (told[0], told[1], told[2], told[3]) == (1, 3, 3, 2)
