"""The simulated site: the same from the same seed, at the rate that was asked for."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile

import pytest

from domains.web.model import TYPES
from domains.web.simulation import events

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
