"""What people read of a run in Airflow's list of runs."""

from typing import Any

import pytest

from penstock.ops.airflow.notes import HEAD, LONGEST, note

PLANNED = ("plan", "success", "12 facts of 2 days")
APPROVED = ("approve", "success", {"chosen_options": ["Approve"], "responded_by_user": {"id": "1", "name": "omar"}})


@pytest.mark.parametrize(
    ("tasks", "lines"),
    [
        ([PLANNED, APPROVED], ["plan: 12 facts of 2 days", "approve: Approve, by omar"]),
        ([("build_views", "failed", "web.visits was refused")], ["build_views: failed: web.visits was refused"]),
        ([("plan", "failed", None), ("retract", "upstream_failed", None)], ["plan: failed", "retract: failed"]),
        ([("plan", "success", {"to": "r2", "text": "a\n\nb"})], ["plan: a b"]),
        ([("mail", "success", ["a.example", "b.example"])], ["mail: a.example, b.example"]),
        ([("plan", "success", {"release": "r2", "hash": ""})], ["plan: release r2"]),
    ],
    ids=["an operation", "a gate", "a refused plan", "a comparison", "several", "a replay"],
)
def test_a_note_has_a_line_for_each_task_that_said_something(
    tasks: list[tuple[str, str | None, Any]], lines: list[str]
) -> None:
    assert note("Why: a broken app", tasks).splitlines() == ["Why: a broken app", HEAD, *lines]


def test_tasks_that_said_nothing_leave_the_note_as_it_is() -> None:
    assert note("", [("look", "success", None), ("close_hours", "success", 0)]) == ""


def test_a_run_that_was_cleared_says_what_it_said_last_and_keeps_what_people_wrote() -> None:
    once = note("Ask Omar first.", [("build_views", "failed", "refused")])
    assert note(once, [("build_views", "success", "19 gates passed")]).splitlines() == [
        "Ask Omar first.",
        HEAD,
        "build_views: 19 gates passed",
    ]


def test_a_note_is_no_longer_than_airflow_keeps() -> None:
    assert len(note("", [(f"task{number}", "success", "so much " * 90) for number in range(9)])) == LONGEST
