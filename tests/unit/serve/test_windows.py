"""Windows that overlap and members who come again: as counted by hand from the facts."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from toy_lake import MIDNIGHT, ToyLake, fact, traffic

Fact = Mapping[str, Any]


def later(moment: datetime, width: timedelta, zone: ZoneInfo) -> datetime:
    """So much later by the clock on the wall of a zone."""
    return (moment.astimezone(zone).replace(tzinfo=None) + width).replace(tzinfo=zone).astimezone(UTC)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("every", "over", "tz"),
    [
        (timedelta(hours=1), timedelta(hours=6), "UTC"),
        (timedelta(minutes=5), timedelta(minutes=5), "UTC"),
        (timedelta(days=1), timedelta(days=2), "Europe/Berlin"),
    ],
    ids=["six hours, each hour", "no overlap", "two days of a zone"],
)
def test_each_bucket_tells_of_the_window_that_ends_with_it(
    lake: ToyLake, seed: int, every: timedelta, over: timedelta, tz: str
) -> None:
    facts, zone = traffic(seed, 60), ZoneInfo(tz)
    lake.epoch(facts[:30])
    lake.epoch(facts[30:])
    start, end = MIDNIGHT + timedelta(hours=23), MIDNIGHT + timedelta(days=2)
    widths = {"every": every, "over": over}
    said = {"tz": tz, **{name: f"{int(width.total_seconds()) // 60} minutes" for name, width in widths.items()}}
    told = lake.answer("toy.events_by_what", **{"from": start.isoformat(), "to": end.isoformat(), **said})
    shown = {row["bucket"].astimezone(UTC): (row["events"], row["who"]) for row in told.rows.to_pylist()}
    assert shown == counted([one for one in facts if one["happened_at"] < end], start, end, every, over, zone)


def counted(
    facts: list[Fact], start: datetime, end: datetime, every: timedelta, over: timedelta, zone: ZoneInfo
) -> dict[datetime, tuple[int, float]]:
    found = {}
    bucket = start.astimezone(zone).replace(hour=0).astimezone(UTC)
    while bucket < end:
        closes = later(bucket, every, zone)
        inside = [one for one in facts if later(closes, -over, zone) <= one["happened_at"] < closes]
        if inside and closes > start:
            found[bucket] = len(inside), float(len({one["who"] for one in inside}))
        bucket = closes
    return found


def test_a_fact_in_several_windows_is_one_fact_of_the_certificate(lake: ToyLake) -> None:
    lake.epoch([fact(minutes=0), fact(minutes=61)])
    answer = lake.answer("toy.everything", every="1 hour", over="3 hours")
    assert (answer.facts, answer.provisional, answer.rows.num_rows) == (2, 2, 4)


@pytest.mark.parametrize("seed", range(3))
def test_who_came_again_is_counted_by_the_bucket_that_saw_them_first(lake: ToyLake, seed: int) -> None:
    facts = traffic(seed, 40)
    lake.epoch(facts)
    told = lake.rows("toy.everything", **{"from": "2026-03-02", "to": "2026-03-06"}, every="1 day", retained="who_seen")
    shown = {(row["bucket"].day, row["again"].day): (row["who_seen"], row["retained"]) for row in told}
    seen: dict[int, set[str]] = {}
    for one in facts:
        if one["what"] and one["what"] != "noise":
            seen.setdefault(one["happened_at"].day, set()).add(one["who"])
    first = {day: seen[day] - set().union(*(seen[other] for other in seen if other < day)) for day in seen}
    assert shown == {(a, b): (len(first[a]), len(first[a] & seen[b])) for a in seen for b in seen if b >= a}
    assert sum(row["who_seen"] for row in told if row["bucket"] == row["again"]) == len(set().union(*seen.values()))


def test_members_of_sets_add_up_over_epochs(lake: ToyLake) -> None:
    lake.epoch([fact("ann", 0, amount=3), fact("bob", 1, amount=60)])
    lake.epoch([fact("ann", 90, amount=99), fact("cy", 2)])
    row = lake.rows("toy.everything")[0]
    assert (row["who_seen"], row["who_large"], row["who_small"]) == (3.0, 2.0, 1.0)


@pytest.mark.parametrize(
    "said",
    [
        {"over": "1 hour"},
        {"every": "1 hour", "over": "90 minutes"},
        {"every": "1 month", "over": "2 months"},
        {"every": "1 hour", "over": "9 fortnights"},
        {"every": "1 minute", "over": "7 days"},
        {"retained": "who_seen"},
        {"every": "1 hour", "retained": "who_seen"},
        {"every": "1 day", "retained": "top_who", "from": "2026-03-01"},
        {"every": "1 day", "retained": "who_seen", "from": "2026-12-01", "order": "bucket"},
    ],
    ids=str,
)
def test_what_makes_no_windows_is_refused_with_what_does(lake: ToyLake, said: dict[str, str]) -> None:
    from penstock.serve.problems import Problem

    with pytest.raises(Problem) as refused:
        lake.answer("toy.everything", **said)
    assert refused.value.status == 400
