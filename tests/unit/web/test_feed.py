"""The simulated site: the same from the same seed, at the rate that was asked for, and believable."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from domains.web import site
from domains.web.feed import BATCH, due_of
from domains.web.model import TYPES
from domains.web.simulation import Sent, events, rhythm

START = datetime(2026, 3, 2, tzinfo=UTC)


def test_the_same_seed_gives_the_same_events() -> None:
    first, second = (list(islice(events(7, START, 5), 500)) for _ in range(2))
    assert first == second


def test_a_day_has_the_rate_that_was_asked_for() -> None:
    week = takewhile(lambda sent: sent.at < START + timedelta(days=7), events(1, START, 0.1))
    assert sum(1 for _ in week) / (7 * 86400) == pytest.approx(0.1, rel=0.15)


def test_events_are_sent_in_order_and_of_every_kind() -> None:
    sent = list(islice(events(1, START, 5), 5000))
    assert sent == sorted(sent)
    assert {event.event.get("type", event.source) for event in sent} == {*TYPES, "web.users", "web.identities"}


def test_the_launch_day_has_three_times_the_visits() -> None:
    launch = START + timedelta(days=2)
    sent = takewhile(lambda sent: sent.at < START + timedelta(days=4), events(1, START, 0.2, launch))
    days = Counter(event.at.date() for event in sent)
    assert days[launch.date()] / days[START.date()] == pytest.approx(3, rel=0.25)


@pytest.fixture(scope="module")
def week() -> list[Sent]:
    """20,000 events of a week and a half, as they are sent."""
    return list(islice(events(3, START, 20_000 / (10 * 86400)), 20_000))


def seen(week: list[Sent]) -> list[dict[str, Any]]:
    """The page views of people."""
    views = [sent.event for sent in week if sent.event.get("type") == "pageview"]
    return [view for view in views if view["user_agent"] not in site.BOTS]


def late(sent: Sent) -> timedelta:
    """How long after it happened an event is sent, as the sender's clock says."""
    return sent.at - datetime.fromisoformat(sent.event["happened_at"])


def test_six_of_a_hundred_visits_are_bots_and_an_eighth_of_people_come_by_a_campaign(week: list[Sent]) -> None:
    views = [sent.event for sent in week if sent.event.get("type") == "pageview"]
    bots = sum(view["user_agent"] in site.BOTS for view in views)
    # A bot loads one page, a person nearly three.
    assert 0.01 < bots / len(views) < 0.04
    landings = [view for view in seen(week) if not (view["referrer"] or "").startswith("https://" + view["site"])]
    tagged = sum("utm_campaign" in view["url"] for view in landings)
    assert tagged / len(landings) == pytest.approx(0.129, abs=0.03)


def test_evenings_are_busier_than_nights(week: list[Sent]) -> None:
    hours = Counter(sent.at.hour for sent in week)
    assert sum(hours[hour] for hour in (17, 18, 19, 20)) > 4 * sum(hours[hour] for hour in (1, 2, 3, 4))


def test_weekends_are_busier_than_mondays() -> None:
    days = [rhythm(START + timedelta(days=day, hours=18)) for day in range(7)]
    assert min(days[5:]) > 1.2 * days[0]


def test_a_rate_above_a_request_each_tick_is_sent_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    # Not in the module itself: other threads of this process would sleep no more, and be in the list.
    monkeypatch.setattr("domains.web.feed.time", SimpleNamespace(sleep=slept.append))
    # All of it is due since March.
    batches = due_of(events(1, START, 1000))
    assert [len(next(batches)) for _ in range(5)] == [BATCH] * 5
    assert slept == []


def test_the_second_page_is_seen_half_as_often_as_the_first(week: list[Sent]) -> None:
    pages = Counter(urlsplit(view["url"]).path for view in seen(week))
    ranks = [pages[path] for path, _ in site.PAGES]
    assert pages.most_common(1)[0][0] == "/"
    for rank, times in enumerate(ranks[1:8], 2):
        assert times / ranks[0] == pytest.approx(1 / rank, rel=0.2)


def test_some_clocks_are_wrong_and_some_phones_were_offline(week: list[Sent]) -> None:
    delays = [late(sent) for sent in week if sent.source == "web.events"]
    second, phone = timedelta(seconds=1), timedelta(minutes=50)
    wrong = [sum(delay < -second for delay in delays), sum(second < delay < phone for delay in delays)]
    # 3 of 100 visits, of which a third are ahead; and 1 of 100.
    assert [number / len(delays) for number in wrong] == pytest.approx([0.01, 0.02], abs=0.007)
    assert sum(delay > phone for delay in delays) / len(delays) == pytest.approx(0.01, abs=0.005)
    assert max(delays) < timedelta(hours=31) and min(delays) > timedelta(minutes=-11)


def test_one_user_has_several_visitors(week: list[Sent]) -> None:
    said = {(sent.event["a"], sent.event["b"]) for sent in week if sent.source == "web.identities"}
    ids = Counter(user for _, user in said)
    assert len(ids) > 100
    assert sum(several > 1 for several in ids.values()) > 5
