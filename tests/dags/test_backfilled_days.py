"""A backfill's runs: whom each takes along, and since when its day was asked for."""

from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import uuid6

from penstock.ops.airflow.days import TOGETHER, DayStep, asked_at, passed_over, waiting

DAY = date(2026, 11, 9)


def days(*numbers: int) -> set[date]:
    return {DAY + timedelta(days=number) for number in numbers}


@pytest.mark.parametrize(
    ("asked", "last"),
    [
        (days(1, 2, 3), 3),
        (days(*range(1, 100)), TOGETHER - 1),
        (days(-1, -2), None),
        (days(2, 3), None),
        (set(), None),
    ],
    ids=["those behind it", "no more than a killed task may repeat", "newest first", "a gap", "alone"],
)
def test_days_without_a_gap_that_wait_are_taken_along(asked: set[date], last: int | None) -> None:
    assert waiting(DAY, asked.__contains__) == (None if last is None else DAY + timedelta(days=last))


@pytest.mark.parametrize(
    ("ended", "missing", "alone"),
    [(1, True, True), (1, False, False), (-1, True, False), (None, True, False)],
    ids=["in vain", "built", "of long ago", "under way"],
)
def test_whose_day_the_run_before_could_not_take_takes_none(ended: int | None, missing: bool, alone: bool) -> None:
    asked = datetime(2026, 11, 20, tzinfo=UTC)
    end = None if ended is None else asked + timedelta(minutes=ended)
    before = SimpleNamespace(end_date=end, logical_date=datetime(2026, 11, 8, tzinfo=UTC))
    assert passed_over(before, asked, lambda day: missing) is alone
    assert not passed_over(None, asked, lambda day: missing)


def test_an_attempt_says_when_it_was_asked_for() -> None:
    before = datetime.now(UTC)
    asked = asked_at(uuid6.uuid7())
    assert timedelta(milliseconds=-1) <= asked - before < timedelta(seconds=5)


@pytest.mark.parametrize(
    ("states", "awaited"),
    [([None], True), (["queued"], True), (["running"], False), (["success"], False), ([], False)],
    ids=["a run that waits", "a task that waits", "under way", "done", "nobody asked"],
)
def test_a_day_is_awaited_as_long_as_its_task_has_not_begun(states: list[str | None], awaited: bool) -> None:
    step = DayStep(job="build_views")

    def told(dag: str, task_ids: list[str], logical_dates: list[datetime]) -> dict[str, dict[str, Any]]:
        assert logical_dates == [datetime(2026, 11, 9, tzinfo=UTC)]
        return {f"run {number}": {task_ids[0]: state} for number, state in enumerate(states)}

    context: Any = {"ti": SimpleNamespace(dag_id="build_views", get_task_states=told)}
    assert step.awaited(context, DAY) is awaited
