"""A day in the life of the people who run this work in Airflow, through REST, on the real stack."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from operators import SECONDS, SOURCE, VIEW, Operator, post, span
from receivers import on_call
from standing import eventually

from penstock.engine.lease import ask_to_end, leases_in, of_driver
from penstock.lake.gates import checks
from penstock.lake.layout import FIRST_RELEASE
from penstock.lake.publication import newest, open_table
from penstock.model.domain import source


@pytest.fixture(scope="module")
def operator(stack: Any) -> Operator:
    return Operator(stack)


@pytest.fixture
def pager(operator: Operator) -> Iterator[list[dict[str, Any]]]:
    with on_call(operator.stack.home) as heard:
        yield heard


@pytest.fixture(scope="module")
def yesterday(operator: Operator) -> date:
    """The day before this one, with a fact that came late."""
    before, day = operator.facts(), datetime.now(UTC) - timedelta(days=1)
    late = {"type": "pageview", "visitor": "late", "site": "a.example", "url": "https://a.example/x"}
    post(operator.stack.url("collector", f"/v1/{SOURCE}"), [{**late, "happened_at": day.isoformat()}])
    assert eventually(lambda: operator.facts() > before, SECONDS)
    return day.date()


def test_an_ordinary_day_events_become_published_numbers(operator: Operator, yesterday: date) -> None:
    operator.send(20)
    assert operator.ended(operator.build()) == "success"
    assert operator.published() == operator.facts()


def test_what_the_build_read_and_wrote_hangs_below_its_task(operator: Operator) -> None:
    told = [json.loads(line) for line in (operator.stack.home / "logs" / "lineage.jsonl").read_text().splitlines()]
    tasks = {event["run"]["runId"] for event in told if event["job"]["name"] == "build_views.build_views"}
    build = [event for event in told if event["job"]["name"] == "spark.build_views"][-1]
    written = {each["name"].rpartition("/")[2] for each in build["outputs"]}
    assert (build["eventType"], VIEW in written) == ("COMPLETE", True)
    assert build["run"]["facets"]["parent"]["run"]["runId"] in tasks


def test_a_gate_that_fails_keeps_the_last_good_numbers_and_calls_until_it_is_mended(
    operator: Operator, pager: list[dict[str, Any]]
) -> None:
    before, cut = operator.published(), newest(open_table(operator.layout.gold(FIRST_RELEASE, VIEW)))
    wrong = operator.break_silver()
    run = operator.build()
    assert operator.ended(run) == "failed"
    assert (operator.published(), newest(open_table(operator.layout.gold(FIRST_RELEASE, VIEW)))) == (before, cut)
    noted = str(operator.ask("GET", f"/dags/build_views/dagRuns/{run}")["note"])
    # A note is short: which views come first is chance.
    assert "build_views: failed: " in noted and "was refused" in noted
    # People hear after the task has said how it ended.
    assert eventually(lambda: any("build_views: DataRefused" in heard["title"] for heard in list(pager)), SECONDS)
    call = next(heard for heard in pager if "build_views" in heard["title"])
    assert "Readers keep the last good numbers" in call["message"]
    assert "/penstock/runbooks/build_views" in call["message"]

    operator.mend_silver(wrong)
    operator.clear(run)
    assert operator.ended(run) == "success"
    assert eventually(lambda: any("[recovered] build_views" in heard["title"] for heard in list(pager)), SECONDS)


def test_every_verdict_is_on_record(operator: Operator) -> None:
    verdicts = {checked.passed for checked in checks(operator.layout.root) if checked.table == VIEW}
    assert verdicts == {True, False}


def test_a_backfill_by_rest_rebuilds_its_days_at_once_and_one_that_is_cleared_again(
    operator: Operator, yesterday: date
) -> None:
    day = yesterday - timedelta(days=1)
    operator.late(day)
    before = operator.days()
    asked = {"dag_id": "build_views", **span(day, yesterday), "reprocess_behavior": "completed", "max_active_runs": 1}
    backfill = operator.ask("POST", "/backfills", asked)
    with pytest.raises(HTTPError) as overlapping:
        operator.ask("POST", "/backfills", asked)
    assert overlapping.value.code == 409
    assert eventually(lambda: bool(operator.ask("GET", f"/backfills/{backfill['id']}")["completed_at"]), SECONDS)
    built = operator.days()
    assert built == before + Counter([day])
    every = f"/dags/build_views/dagRuns?run_type=backfill&order_by=logical_date&logical_date_gte={day}T00:00:00Z"
    first, second = operator.ask("GET", every)["dag_runs"]
    assert ("gates passed" in first["note"], "was built with other days" in second["note"]) == (True, True)

    run = second["dag_run_id"]
    operator.clear(run)
    assert operator.ended(run) == "success"
    assert eventually(
        lambda: "gates passed" in operator.ask("GET", f"/dags/build_views/dagRuns/{run}")["note"], SECONDS
    )
    assert operator.days() == built


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/backfills", {"dag_id": "build_views", **span(date(2999, 1, 1), date(2999, 1, 2))}),
        ("/backfills", {"dag_id": "build_views", **span(date(2026, 1, 2), date(2026, 1, 1))}),
        ("/dags/build_views/dagRuns", {"logical_date": None, "conf": {"domain": "unheard"}}),
        ("/dags/build_views/dagRuns", {"logical_date": None, "conf": {"from": "18.11.2026; rm -rf /"}}),
    ],
    ids=["a backfill of the future", "a reversed backfill", "an unknown domain", "no date"],
)
def test_what_cannot_be_done_is_refused_before_a_run_exists(
    operator: Operator, path: str, body: dict[str, object]
) -> None:
    with pytest.raises(HTTPError) as refused:
        operator.ask("POST", path, body)
    assert 400 <= refused.value.code < 500


def test_a_driver_that_is_killed_is_replaced_and_goes_on(operator: Operator) -> None:
    assert eventually(lambda: bool(operator.working("stream")), SECONDS)
    killed = operator.working("stream")
    for process in killed:
        process.kill()
    operator.send(10)
    assert operator.working("stream").isdisjoint(killed)


def test_a_shift_that_ends_is_followed_by_the_next(operator: Operator) -> None:
    before = operator.working("stream")
    ask_to_end(leases_in(operator.stack.home), of_driver([source(SOURCE)], FIRST_RELEASE))
    assert eventually(lambda: before.isdisjoint(operator.working("stream")), SECONDS)
    operator.send(10)


def test_the_night_s_work_ends_well(operator: Operator) -> None:
    dags = ("ingest_checks", "close_day", "maintain")
    runs = {dag: operator.start(dag) for dag in dags}
    assert {dag: operator.ended(run, dag) for dag, run in runs.items()} == dict.fromkeys(dags, "success")


def test_an_analyst_sees_and_starts_nothing(operator: Operator) -> None:
    token = operator.stack.token("analyst")
    operator.stack.ask("GET", "/api/v2/dags/build_views", None, token)
    with pytest.raises(HTTPError) as refused:
        operator.stack.ask("POST", "/api/v2/dags/build_views/dagRuns", {"logical_date": None}, token)
    assert refused.value.code == 403


def test_runbooks_are_for_those_who_are_logged_in(operator: Operator) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(operator.stack.url("airflow", "/penstock/runbooks/build_views"), timeout=30)  # noqa: S310
    assert refused.value.code == 401
