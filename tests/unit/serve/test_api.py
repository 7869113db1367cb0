"""The read API, over real Delta tables, as a program on the network sees it."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from toy_lake import ToyLake, fact

from penstock.lake.gates import Checked, record
from penstock.serve.reader import Reader
from penstock.serve.works import Works
from penstock.settings import Settings

RANGE = "from=2026-03-01&to=2026-03-09"
TALLY = f"/api/views/toy.events_by_what?{RANGE}"


def told(client: TestClient, address: str, epoch: int = 0) -> Any:
    """The answer, once the follower has seen what was committed up to an epoch."""
    for _ in range(50):
        answer = client.get(address).json()
        if answer.get("rows") and answer.get("certificate", {"epoch": epoch})["epoch"] >= epoch:
            return answer
        time.sleep(0.1)
    raise AssertionError(answer)


def test_one_total_of_the_range_without_bucket_and_keys(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(amount=3), fact("bob", 1, "buy", 60)])
    row = told(client, TALLY)["rows"][0]
    assert {name: row[name] for name in ("events", "large", "large_share", "amount", "who")} == {
        "events": 2, "large": 1, "large_share": 0.5, "amount": 63.0, "who": 2.0,
    }  # fmt: skip


def test_buckets_and_keys_as_asked(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(minutes=0), fact(minutes=59), fact(minutes=61, what="buy")])
    rows = told(client, f"{TALLY}&every=1 hour&by=what")["rows"]
    assert [(row["bucket"], row["what"], row["events"]) for row in rows] == [
        ("2026-03-02T00:00:00Z", "look", 2),
        ("2026-03-02T01:00:00Z", "buy", 1),
    ]


def test_a_day_in_another_zone_starts_at_its_own_midnight(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(minutes=0), fact(minutes=23 * 60 + 30)])
    rows = told(client, f"{TALLY}&every=1 day&tz=Europe/Berlin")["rows"]
    assert [(row["bucket"], row["events"]) for row in rows] == [
        ("2026-03-02T00:00:00+01:00", 1),
        ("2026-03-03T00:00:00+01:00", 1),
    ]


@pytest.mark.parametrize(
    ("where", "events"),
    [("what:eq:look", 2), ("what:ne:look", 1), ("what:in:look,buy", 3), ("what:prefix:lo", 2), ("what:contains:uy", 1)],
)
def test_filters_choose_by_key(lake: ToyLake, client: TestClient, where: str, events: int) -> None:
    lake.epoch([fact(), fact(), fact(what="buy")])
    assert told(client, f"{TALLY}&where={where}")["rows"][0]["events"] == events


def test_the_certificate_says_what_the_answer_is_made_of(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(), fact()])
    said = told(client, TALLY)["certificate"]
    assert (said["release"], said["cut"], said["epoch"], said["facts"], said["final"]) == ("r1", {}, 0, 2, False)


def test_an_epoch_committed_twice_counts_once(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact()])
    lake.commit(0)
    assert told(client, TALLY)["rows"][0]["events"] == 1


def test_a_late_fact_joins_two_sessions(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(minutes=0, what="in"), fact(minutes=50, what="out")])
    lake.epoch([fact(minutes=25, what="between")])
    rows = told(client, f"/api/views/toy.sessions?{RANGE}", epoch=1)["rows"]
    assert [(row["events"], row["entry"], row["exit"], row["seconds"]) for row in rows] == [(3, "in", "out", 3000)]


def test_a_tally_of_sessions_sees_stitched_sessions(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(minutes=0), fact("bob", 0)])
    lake.epoch([fact(minutes=25)])
    row = told(client, f"/api/views/toy.visits?{RANGE}", epoch=1)["rows"][0]
    assert (row["visits"], row["bounces"], row["bounce_rate"], row["duration"]) == (2, 1, 0.5, 750)


def test_the_latest_fact_of_a_key_is_its_current_row(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(minutes=9, what="new")])
    lake.epoch([fact(minutes=3, what="late")])
    assert [row["what"] for row in told(client, "/api/views/toy.now", epoch=1)["rows"]] == ["new"]


def test_a_late_fact_completes_a_pattern_of_its_key(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact("bob", 0), fact("bob", 2, "buy"), fact("ann", 62, "buy")])
    lake.epoch([fact("ann", 60, "look")])
    rows = told(client, f"/api/views/toy.impulses?{RANGE}", epoch=1)["rows"]
    assert [(row["who"], row["seconds"]) for row in rows] == [("ann", 120), ("bob", 120)]


def test_a_pattern_is_none_where_what_excludes_it_comes_between_although_it_comes_late(
    lake: ToyLake, client: TestClient
) -> None:
    for who in ("ann", "bob", "cy"):
        lake.epoch([fact(who, 0, "look"), fact(who, 3, "buy")])
    # Ann left between, bob after it, and cy came back and looked again.
    lake.epoch([fact("ann", 1, "leave"), fact("bob", 4, "leave"), fact("cy", 1, "leave"), fact("cy", 2, "look")])
    rows = told(client, f"/api/views/toy.impulses?{RANGE}", epoch=3)["rows"]
    assert [(row["who"], row["seconds"]) for row in rows] == [("bob", 180), ("cy", 60)]


def test_a_late_fact_takes_back_what_no_longer_holds(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact("ann", 0), fact("ann", 4, "buy"), fact("bob", 0), fact("bob", 1, "buy")])
    lake.epoch([fact("ann", 3, "buy")])
    rows = told(client, f"/api/views/toy.impulses?{RANGE}", epoch=1)["rows"]
    assert [(row["who"], row["seconds"]) for row in rows] == [("ann", 180), ("bob", 60)]


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/views/toy.nothing", 404),
        ("/api/facts/toy.nothing", 404),
        ("/api/nothing", 404),
        (f"{TALLY}&by=nothing", 400),
        (f"{TALLY}&every=fortnight", 400),
        (f"{TALLY}&every=7 seconds", 400),
        (f"{TALLY}&every=0 minutes", 400),
        (f"{TALLY}&where=nothing:eq:1", 400),
        (f"{TALLY}&where=what:like:1", 400),
        (f"{TALLY}&where=what", 400),
        (f"{TALLY}&order=nothing", 400),
        (f"{TALLY}&limit=0", 400),
        (f"{TALLY}&limit=1000000", 400),
        (f"{TALLY}&limit=٣", 400),
        (f"{TALLY}&tz=Mars/Olympus", 400),
        (f"{TALLY}&tz=../../etc/passwd", 400),
        (f"{TALLY}&color=red", 400),
        (f"{TALLY}&where=what:eq:{'x' * 2000}", 400),
        ("/api/views/toy.events_by_what?from=2026-03-09&to=2026-03-01", 400),
        ("/api/views/toy.events_by_what?from=1980-01-01&to=2026-03-01", 400),
        ("/api/views/toy.events_by_what?from=2150-01-01&to=2150-01-02", 400),
        ("/api/views/toy.events_by_what?from=yesterday", 400),
        ("/api/views/toy.events_by_what?from=9999999999999999999999", 400),
        ("/api/views/toy.events_by_what?from=0001-01-01T00:00:00%2B14:00", 400),
        (f"/api/views/toy.sessions?{RANGE}&every=1 hour", 400),
        ("/api/facts/toy.events?limit=-1", 400),
    ],
)
def test_a_bad_question_is_refused_with_a_problem_document(client: TestClient, address: str, status: int) -> None:
    answer = client.get(address)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["detail"]


def test_a_name_that_is_not_known_is_answered_with_those_that_are(client: TestClient) -> None:
    views = [view["name"] for view in client.get("/api/views").json()["views"]]
    assert client.get("/api/views/toy.nothing").json()["allowed"] == sorted(views)


def test_words_of_a_filter_never_become_sql(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(what="a' or 'a'='a")])
    assert told(client, f"{TALLY}&where=what:eq:a' or 'a'='a")["rows"][0]["events"] == 1


def test_what_changes_is_pushed(lake: ToyLake, client: TestClient) -> None:
    with client.websocket_connect(f"/api/live?view=toy.events_by_what&by=what&{RANGE}") as socket:
        assert socket.receive_json()["rows"] == []
        lake.epoch([fact(), fact(what="buy")])
        assert len(socket.receive_json()["rows"]) == 2
        lake.epoch([fact()])
        assert [(row["what"], row["events"]) for row in socket.receive_json()["rows"]] == [("look", 2)]


def test_a_page_of_another_origin_gets_no_live_answers(client: TestClient) -> None:
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(
            f"/api/live?view=toy.events_by_what&{RANGE}", headers={"origin": "http://elsewhere.example"}
        ) as socket,
    ):
        socket.receive_json()


def test_a_fault_of_ours_has_the_careful_headers_too(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.serve.answers.described", lambda _: 1 / 0)
    local = {"client": ("127.0.0.1", 50_000), "headers": {"host": "127.0.0.1"}}
    with TestClient(app, raise_server_exceptions=False, **local) as client:  # type: ignore[arg-type]
        answer = client.get("/api/views")
    assert (answer.status_code, answer.json()["title"]) == (500, "A fault of ours")
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_tables_are_followed_on_after_a_look_that_failed(
    lake: ToyLake, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("penstock.serve.reader.Reader._standing_now", lambda _: 1 / 0)
        time.sleep(1)
    lake.epoch([fact(), fact()])
    assert told(client, TALLY)["rows"][0]["events"] == 2


def test_facts_are_shown_newest_first(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(what="old")])
    lake.epoch([fact(what="new")])
    assert [row["what"] for row in told(client, "/api/facts/toy.events?limit=2")["rows"]] == ["new", "old"]


@pytest.mark.parametrize(
    "address", ["/api/views", "/api/status", "/api/releases", "/api/audit", "/api/openapi.json", "/healthz"]
)
def test_the_rest_of_the_api_answers(client: TestClient, address: str) -> None:
    assert client.get(address).status_code == 200


def test_a_log_that_does_not_answer_is_said_with_what_to_do(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise KafkaException(KafkaError(KafkaError._TRANSPORT))

    monkeypatch.setattr("penstock.serve.answers.balances", gone)
    answer = client.get("/api/ledger")
    assert (answer.status_code, answer.json()["title"]) == (503, "The ledger cannot be read")
    assert "penstock status" in answer.json()["detail"]


def test_a_ledger_of_a_source_that_nobody_has_says_which_there_are(client: TestClient) -> None:
    answer = client.get("/api/ledger?source=nope")
    assert (answer.status_code, answer.json()["title"]) == (404, "There is no such source")
    assert "toy.events" in answer.text


def test_the_works_tell_of_tables_and_gates_and_of_an_airflow_that_does_not_answer(
    lake: ToyLake, client: TestClient
) -> None:
    lake.epoch([fact()])
    said = {"release": "r1", "severity": "critical", "candidate": "", "where": "", "failed": "[]", "sample": "[]"}
    now = datetime.now(UTC)
    for minutes, passed in ((9, True), (1, False)):
        at = now - timedelta(minutes=minutes)
        record(lake.layout, Checked(at, "toy.x", passed=passed, reason="", results="[]", seconds=0.1, **said))
    works = client.get("/api/works").json()
    assert [(gate["table"], gate["passed"]) for gate in works["gates"]] == [("toy.x", False)]
    assert {(row["tier"], row["table"]) for row in works["tables"]} >= {("speed", "toy.events_by_what")}
    assert works["runs"] is None


def test_who_asks_for_the_works_while_they_are_made_gets_what_was_told_last(lake: ToyLake, settings: Settings) -> None:
    works = Works(settings, Reader(lake.layout))
    first = works.told(Request({"type": "http"}))
    works._until = 0.0
    with works._lock:
        assert works.told(Request({"type": "http"})) is first


def test_a_broken_table_is_served_as_it_last_was_and_the_status_says_so(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact()])
    before = told(client, TALLY)["rows"]
    log = Path(lake.layout.speed("r1", "toy.events_by_what"), "_delta_log")
    (log / f"{2:020}.json").write_text("{ half a com")
    time.sleep(1)
    assert told(client, TALLY)["rows"] == before
    assert "toy.events_by_what" in client.get("/api/status").json()["problems"]


def test_two_releases_are_compared(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(), fact("bob", 1)])
    compared = client.get("/api/releases/toy/compared?before=r1&after=r1").json()
    assert (compared["same"], compared["sources"][0]["compared"]) == (True, 2)


@pytest.mark.parametrize(
    ("address", "status", "allowed"),
    [("/api/releases/toy/compared?after=r9", 400, "r1"), ("/api/releases/unheard/compared", 404, "toy")],
    ids=["release", "domain"],
)
def test_what_cannot_be_compared_is_refused(client: TestClient, address: str, status: int, allowed: str) -> None:
    answer = client.get(address)
    assert (answer.status_code, allowed in answer.json()["allowed"]) == (status, True)


def test_several_questions_are_answered_in_their_order_in_one_request(
    lake: ToyLake, reader: Reader, client: TestClient
) -> None:
    lake.epoch([fact("ann", 0)])
    reader.refresh()
    asked = ["toy.events_by_what?from=2026-03-01&to=2026-03-03", "toy.unheard", "toy.events_by_what?limit=none"]
    good, unknown, wrong = client.get("/api/answers", params=[("ask", each) for each in asked]).json()["answers"]
    alone = client.get("/api/views/toy.events_by_what?from=2026-03-01&to=2026-03-03").json()
    assert good["rows"] == alone["rows"] != []
    assert [each["problem"]["status"] for each in (unknown, wrong)] == [404, 400]
