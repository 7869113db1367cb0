"""Buckets of every width: where one ends and the next begins."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from toy_lake import ToyLake, fact

from penstock.model.domain import domains
from penstock.model.view import Tally


@pytest.fixture
def lake(lake: ToyLake, monkeypatch: pytest.MonkeyPatch) -> ToyLake:
    """The toy's tally in the smallest buckets that there are."""
    (tally, *_) = lake.domain.views
    assert isinstance(tally, Tally)
    lake.domain = replace(lake.domain, views=(replace(tally, every="1 second"),))
    monkeypatch.setitem(domains(), "toy", lake.domain)
    return lake


@pytest.mark.parametrize(
    ("every", "begins", "next_begins"),
    [
        ("1 second", "2026-03-02T10:00:59", "2026-03-02T10:01:00"),
        ("5 seconds", "2026-03-02T10:00:55", "2026-03-02T10:01:00"),
        ("1 minute", "2026-03-01T23:59:00", "2026-03-02T00:00:00"),
        ("15 minutes", "2026-03-02T10:45:00", "2026-03-02T11:00:00"),
        ("1 hour", "2026-02-28T23:00:00", "2026-03-01T00:00:00"),
        ("6 hours", "2026-03-01T18:00:00", "2026-03-02T00:00:00"),
        ("1 day", "2024-02-29T00:00:00", "2024-03-01T00:00:00"),
        ("1 week", "2025-12-29T00:00:00", "2026-01-05T00:00:00"),
        ("1 month", "2026-02-01T00:00:00", "2026-03-01T00:00:00"),
        ("1 quarter", "2025-10-01T00:00:00", "2026-01-01T00:00:00"),
        ("1 year", "2024-01-01T00:00:00", "2025-01-01T00:00:00"),
    ],
)
def test_a_bucket_has_what_happened_from_its_start_until_the_next_one_starts(
    lake: ToyLake, every: str, begins: str, next_begins: str
) -> None:
    first, second = (datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in (begins, next_begins))
    moments = (first, second - timedelta(microseconds=1), second)
    lake.epoch([{**fact(), "happened_at": moment} for moment in moments])
    within = {"from": first.isoformat(), "to": (second + (second - first)).isoformat()}
    rows = lake.rows("toy.events_by_what", every=every, order="bucket", **within)
    assert [(row["bucket"].astimezone(UTC), row["events"]) for row in rows] == [(first, 2), (second, 1)]
