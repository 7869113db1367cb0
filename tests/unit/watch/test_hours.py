"""When an hour counts as complete, and how often builds hear of it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from penstock.lake.ledger import Balance
from penstock.ops.watch.hours import Announced, due, unbalanced

NINE = datetime(2026, 11, 18, 9, tzinfo=UTC)


def hour(accepted: int = 10, archived: int = 10, facts: int = 10) -> Balance:
    return Balance("toy.events", NINE, accepted, archived, facts, 0, 0, 0, False)


@pytest.mark.parametrize(
    ("balance", "minutes", "complete"),
    [
        (hour(), 59, []),
        (hour(), 60, [True]),
        (hour(archived=9, facts=9), 65, []),
        (hour(facts=9), 69, []),
        (hour(facts=9), 70, [False]),
    ],
    ids=["not over", "complete", "not archived", "not shaped", "out of patience"],
)
def test_an_hour_is_due_when_it_is_over_and_balanced_or_late(
    balance: Balance, minutes: int, complete: list[bool]
) -> None:
    assert [each.complete for each in due([balance], NINE + timedelta(minutes=minutes))] == complete


def test_a_source_that_does_not_add_up_is_told_with_how_much(tmp_path: Path) -> None:
    findings = list(unbalanced([hour(archived=8, facts=7)], NINE + timedelta(hours=2)))
    (one,) = findings
    assert one.kind == "ledger_unbalanced"
    assert "2 records are not in bronze and 1 of those in bronze have no disposition." in one.text


def test_what_is_booked_twice_is_told_as_that() -> None:
    assert hour(facts=12).wrong == "2 dispositions are booked beside those of bronze"


def test_an_hour_is_told_once_and_again_when_it_changed(tmp_path: Path) -> None:
    later = NINE + timedelta(hours=3)
    told = []
    for balance in (hour(facts=9), hour(facts=9), hour(), hour()):
        fresh = Announced(tmp_path).fresh(due([balance], later))
        Announced(tmp_path).remember(fresh)
        told.append(len(fresh))
    assert told == [1, 0, 1, 0]
