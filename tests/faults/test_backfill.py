"""Builds that are disturbed, through Airflow as an operator would: once, exactly, and what a clean build gives."""

import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from urllib.error import HTTPError

import pytest
from disturbing import DISTURBED
from operators import SECONDS, Operator, shown, span
from receivers import on_call
from standing import RunningStack, eventually

from domains.web.feed import history

FULL = bool(os.environ.get("PENSTOCK_FULL"))
pytestmark = [pytest.mark.skipif(not FULL, reason="a minute an attempt: make faults"), pytest.mark.timeout(1200)]

DAYS = int(os.environ.get("PENSTOCK_DAYS", "7"))
EVENTS = 2_000
ATTEMPTS = int(os.environ.get("PENSTOCK_ATTEMPTS", "50"))


@pytest.fixture(scope="module")
def operator(stack: RunningStack) -> Operator:
    return Operator(stack)


@pytest.fixture(scope="module")
def week(operator: Operator) -> list[date]:
    """The days before today, all built."""
    today = datetime.now(UTC).date()
    days = [today - timedelta(days=back) for back in range(DAYS, 0, -1)]
    before = operator.disposed()
    accepted = history(operator.stack.url("collector", ""), DAYS + 1, EVENTS)
    assert eventually(lambda: operator.disposed() >= before + accepted, SECONDS)
    assert operator.ended(operator.build()) == "success"
    assert all(operator.days()[day] for day in days)
    return days


@pytest.fixture
def pager(operator: Operator) -> Iterator[list[dict[str, Any]]]:
    with on_call(operator.stack.home) as heard:
        yield heard


def test_of_a_week_with_one_bad_day_six_are_published_and_the_seventh_names_itself(
    operator: Operator, week: list[date], pager: list[dict[str, Any]]
) -> None:
    before, bad = operator.days(), week[DAYS // 2]
    for day in week:
        if day != bad:
            operator.late(day)
    wrong = operator.plant({"site": None}, day=bad)
    asked = {
        "dag_id": "build_views",
        **span(week[0], week[-1]),
        "reprocess_behavior": "completed",
        "max_active_runs": 1,
    }
    backfill = operator.ask("POST", "/backfills", asked)
    with pytest.raises(HTTPError) as twice:
        operator.ask("POST", "/backfills", asked)
    assert twice.value.code == 409
    assert eventually(lambda: bool(operator.ask("GET", f"/backfills/{backfill['id']}")["completed_at"]), 3 * SECONDS)

    runs = operator.ask("GET", "/dags/build_views/dagRuns?run_type=backfill&limit=50")["dag_runs"]
    ended = {date.fromisoformat(run["logical_date"][:10]): run for run in runs}
    assert {day: ended[day]["state"] for day in week} == {day: "failed" if day == bad else "success" for day in week}
    (call,) = [heard for heard in pager if "[critical] build_views" in heard["title"]]
    assert all(word in call["message"] for word in ("site", str(bad), "Readers keep the last good numbers"))
    assert operator.days() == before + Counter(day for day in week if day != bad)

    operator.mend_silver(wrong)
    operator.late(bad)
    run = ended[bad]["dag_run_id"]
    operator.clear(run)
    assert operator.ended(run) == "success"
    assert operator.days() == before + Counter(week)
    assert eventually(lambda: any("[recovered] build_views" in heard["title"] for heard in list(pager)), SECONDS)


@pytest.mark.parametrize("seed", range(ATTEMPTS))
def test_a_build_that_is_disturbed_counts_once(operator: Operator, week: list[date], seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    day, before = chance.choice(week), operator.days()
    operator.late(day)
    run = operator.build(**{"from": str(day), "to": str(day)})
    disturb = DISTURBED[seed % len(DISTURBED)]
    disturb(operator, run, chance)
    assert operator.ended(run) == "success"
    assert operator.days() == before + Counter([day])


def test_after_all_that_the_tables_are_those_of_a_clean_build(operator: Operator, week: list[date]) -> None:
    published = shown(operator)
    assert operator.ended(operator.build(full=True)) == "success"
    assert shown(operator) == published
