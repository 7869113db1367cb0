"""What a number says of itself: rejected, on its way, complete up to when, final or not."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from starlette.testclient import TestClient
from toy_lake import MIDNIGHT, ToyLake, fact
from unit.serve.test_api import TALLY, told

from penstock.lake import days
from penstock.lake.ledger import LEDGER
from penstock.model.domain import view
from penstock.serve.books import Books, Days
from penstock.serve.certificate import certificate
from penstock.serve.question import Question
from penstock.serve.reader import Answer
from penstock.serve.snapshot import Snapshot
from penstock.serve.standing import Standing

SOURCE, NOON = "toy.events", MIDNIGHT + timedelta(hours=12)
HERE = Standing({}, {})


def stream(**more: Any) -> dict[str, Any]:
    """What the shaping stream says of itself."""
    well = {"job": f"shape-{SOURCE}", "release": "r1", "state": "running", "at": NOON.isoformat()}
    return {**well, "lag_records": 0, "lag_seconds": 0.0, "rests": True, **more}


def answered(lake: ToyLake, provisional: int = 0) -> Answer:
    question = Question(view("toy.events_by_what"), MIDNIGHT, MIDNIGHT + timedelta(days=1))
    return Answer(pa.table({}), Snapshot(question.view, "r1", cut=3), 7, provisional, question)


def declared(lake: ToyLake, day: date, rows: int) -> None:
    said = days.Day(SOURCE, "r1", day, rows, rows, True, "", NOON)
    write_deltalake(lake.layout.control("days"), pa.Table.from_pylist([vars(said)], days.SCHEMA), mode="append")


def booked(lake: ToyLake, *rejected: tuple[float, int], release: str = "r1") -> None:
    rows = [
        {"source": SOURCE, "release": release, "stage": "rejected", "reason": "malformed", "records": records}
        | {"hour": MIDNIGHT + timedelta(hours=hour)}
        for hour, records in rejected
    ]
    write_deltalake(lake.layout.ledger(), pa.Table.from_pylist(rows, LEDGER), mode="append")


def books(lake: ToyLake) -> Books:
    found = Books(lake.layout)
    found.refresh(HERE)
    return found


@pytest.mark.parametrize(
    ("provisional", "said", "in_flight", "final"),
    [
        (0, [stream()], 0, True),
        (1, [stream()], 0, False),
        (0, [stream(lag_records=5)], 5, False),
        (0, [stream(rests=False)], None, False),
        (0, [], None, False),
        (0, [stream(lag_records=None)], None, False),
        (0, [stream(state="failed")], None, False),
        (0, [stream(at=(NOON - timedelta(minutes=1)).isoformat())], None, False),
        (0, [stream(release="r2")], None, False),
    ],
    ids=[
        "all is in",
        "after the cut",
        "on its way",
        "at work",
        "nobody says",
        "not measured",
        "failed",
        "silent",
        "of another",
    ],
)
def test_a_number_is_final_when_all_is_built_and_nothing_is_known_to_be_on_its_way(
    lake: ToyLake, provisional: int, said: list[dict[str, Any]], in_flight: int | None, final: bool
) -> None:
    carried = certificate(answered(lake, provisional), NOON, said, books(lake))
    assert (carried["in_flight"], carried["final"]) == (in_flight, final)


def test_an_answer_is_complete_to_when_the_stream_had_all_that_the_log_has(lake: ToyLake) -> None:
    said = [stream(lag_seconds=90.0, lag_records=5)]
    assert certificate(answered(lake), NOON, said, books(lake))["complete_to"] == NOON - timedelta(seconds=90)


def test_a_day_that_was_declared_final_is_so_whatever_is_on_its_way_until_a_row_comes_late(lake: ToyLake) -> None:
    lake.epoch([fact(), fact()])
    declared(lake, MIDNIGHT.date(), rows=2)
    said = [stream(lag_records=5)]
    assert certificate(answered(lake), NOON, said, books(lake))["final"]
    lake.epoch([fact()])
    assert not certificate(answered(lake), NOON, said, books(lake))["final"]


@pytest.mark.parametrize(
    ("first", "last", "covered"),
    [(1, 3, True), (2, 2, True), (1, 5, False), (5, 5, True), (5, 6, False)],
    ids=["all final", "no rows", "one is open", "the last", "after them"],
)
def test_a_range_is_final_when_each_of_its_days_is(first: int, last: int, covered: bool) -> None:
    held, final = (frozenset(date(2026, 3, day) for day in those) for those in ((1, 3, 4, 5), (1, 3, 5)))
    assert Days(held, final).covers(date(2026, 3, first), date(2026, 3, last)) is covered


def test_rejected_are_those_of_the_hours_that_the_range_touches(lake: ToyLake) -> None:
    booked(lake, (0, 40), (1, 2), (1, 3), (1, -1), (5, 100))
    booked(lake, (1, 1000), release="r2")
    start = MIDNIGHT + timedelta(minutes=90)
    assert books(lake).rejected("r1", SOURCE, start, start + timedelta(hours=3)) == 4


def test_rejected_is_unknown_where_nothing_was_booked(lake: ToyLake) -> None:
    assert books(lake).rejected("r1", SOURCE, MIDNIGHT, NOON) is None


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.serve.books.SECONDS", 0.0)


def test_what_the_books_gain_is_in_the_next_certificates(lake: ToyLake, hurried: None, client: TestClient) -> None:
    lake.epoch([fact()])
    booked(lake, (0, 3))
    told(client, TALLY)
    until = datetime.now(UTC) + timedelta(seconds=20)
    while told(client, TALLY)["certificate"]["rejected"] != 3:
        assert datetime.now(UTC) < until
