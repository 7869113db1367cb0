"""Live answers: made once for all who ask the same, begun anew with another release; and what rules find."""

import asyncio
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocket
from toy_lake import ToyLake, fact
from unit.serve.test_api import RANGE
from unit.serve.test_rules import Told, alarm

from penstock.lake.audit import Entry, record
from penstock.lake.releases import READY, Release, say, switch
from penstock.serve import live

# Who is told nothing waits for ever.
pytestmark = pytest.mark.timeout(60)
TALLY = f"/api/live?view=toy.events_by_what&by=what&{RANGE}"


def opened(stack: ExitStack, client: TestClient, address: str, number: int) -> list[WebSocketTestSession]:
    return [stack.enter_context(client.websocket_connect(address)) for _ in range(number)]


def test_a_change_is_made_and_serialised_once_for_all_who_ask_the_same(
    lake: ToyLake, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[list[Any]] = []

    def counted(said: Any) -> bytes:
        made.append(said["rows"])
        return document(said)

    document = live.document
    monkeypatch.setattr(live, "document", counted)
    with ExitStack() as stack:
        sockets = opened(stack, client, TALLY, 3)
        assert [socket.receive_json()["rows"] for socket in sockets] == [[], [], []]
        lake.epoch([fact(), fact(what="buy")])
        heard = [socket.receive_text() for socket in sockets]
    # The whole answer, for who comes next, and what changed, for all. A look may see the table before its rows.
    assert (len({*heard}), [len(rows) for rows in made if rows]) == (1, [2, 2])


def test_subscribers_begin_anew_when_the_release_is_switched(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact(), fact(what="buy")])
    other = ToyLake(None, lake.layout, lake.domain, release="r2")
    other.epoch([fact(what="look"), fact(what="leave")])
    say(lake.layout, Release("toy", "r2", READY))
    with client.websocket_connect(TALLY) as socket:
        heard = socket.receive_json()
        if not heard["rows"]:
            heard = socket.receive_json()
        assert heard["certificate"]["release"] == "r1"
        switch(lake.layout, "toy", "r2", "lina", "it is better")
        moved = socket.receive_json()
        assert (moved["whole"], moved["certificate"]["release"]) == (True, "r2")
        assert sorted(row["what"] for row in moved["rows"]) == ["leave", "look"]
        other.epoch([fact(what="look")])
        changed = socket.receive_json()
        assert ("whole" in changed, [(row["what"], row["events"]) for row in changed["rows"]]) == (False, [("look", 2)])


def test_what_a_rule_finds_is_pushed_to_who_subscribed_to_it(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact("ann", amount=99)])
    following = alarm(lake, Told())
    following.look()
    with client.websocket_connect("/api/live?rule=toy.large") as socket:
        heard = socket.receive_json()
        assert (heard["rule"], [row["fact"]["who"] for row in heard["rows"]]) == ("toy.large", ["ann"])
        lake.epoch([fact("bob", amount=98), fact("cy", amount=2)])
        following.look()
        assert [row["fact"]["who"] for row in socket.receive_json()["rows"]] == ["bob"]


def test_the_alerts_of_all_rules_are_pushed_to_who_subscribed_to_them(lake: ToyLake, client: TestClient) -> None:
    lake.epoch([fact("ann", amount=99)])
    following = alarm(lake, Told())
    with client.websocket_connect("/api/live?about=alerts") as socket:
        assert socket.receive_json()["rows"] == []
        following.look()
        assert [row["fact"]["who"] for row in socket.receive_json()["rows"]] == ["ann"]


def test_what_people_do_is_told_to_who_subscribed_to_the_audit(lake: ToyLake, client: TestClient) -> None:
    with client.websocket_connect("/api/live?about=audit") as socket:
        assert socket.receive_json() == {"entries": []}
        record(lake.layout, Entry("op1", "switch", "toy", "ann", "a new rule", "bob"))
        assert [entry["who"] for entry in socket.receive_json()["entries"]] == ["ann"]


def test_the_pipeline_is_told_anew_while_somebody_listens_and_a_part_that_fails_says_why(
    lake: ToyLake, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.serve.app.PIPELINE_SECONDS", 0.1)
    with client.websocket_connect("/api/live?about=pipeline") as socket:
        first = socket.receive_json()
        assert (first["status"]["epochs"]["toy.events_by_what"], first["ledger"]) == (-1, {"hours": []})
        lake.epoch([fact()])
        monkeypatch.setattr("penstock.serve.answers.balances", lambda *_: 1 / 0)
        heard = first
        while heard["status"]["epochs"]["toy.events_by_what"] < 0 or "problem" not in heard["ledger"]:
            heard = socket.receive_json()
        assert heard["at"] > first["at"]
        assert heard["ledger"]["problem"]["detail"] == "ZeroDivisionError; it is in the log"


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/live", 400),
        ("/api/live?rule=toy.unheard", 404),
        ("/api/live?rule=toy.large&limit=0", 400),
        ("/api/live?rule=toy.large&by=who", 400),
        ("/api/live?rule=toy.large&view=toy.now", 400),
        ("/api/live?about=weather", 400),
        ("/api/live?about=pipeline&limit=3", 400),
    ],
)
def test_a_subscription_that_cannot_be_meant_is_refused(client: TestClient, address: str, status: int) -> None:
    with client.websocket_connect(address) as socket:
        refused = socket.receive_json()
    assert (refused["status"], bool(refused["allowed"])) == (status, True)


def test_an_answer_that_fails_keeps_no_other_from_being_told(
    lake: ToyLake, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        # Asked first, so told first.
        (failing,) = opened(stack, client, "/api/live?rule=toy.large", 1)
        (other,) = opened(stack, client, TALLY, 1)
        failing.receive_json(), other.receive_json()
        monkeypatch.setattr("penstock.serve.matched.Matched.answer", lambda *_: 1 / 0)
        monkeypatch.setattr("penstock.serve.matched.Matched.refresh", lambda _: {"toy.large"})
        lake.epoch([fact()])
        assert other.receive_json()["rows"][0]["events"] == 1


def test_alerts_that_cannot_be_read_keep_no_view_from_being_told(
    lake: ToyLake, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client.websocket_connect(TALLY) as socket:
        socket.receive_json()
        monkeypatch.setattr("penstock.serve.matched.Matched.refresh", lambda _: 1 / 0)
        lake.epoch([fact()])
        assert socket.receive_json()["rows"][0]["events"] == 1
    assert "ZeroDivisionError" in client.get("/api/status").json()["problems"]["alerts"]


def test_who_leaves_while_an_answer_is_made_ends_the_telling_of_nobody() -> None:
    key, topic = (("about", live.PIPELINE),), live.Topic()

    def answer(_: live.Key) -> tuple[dict[str, Any], tuple[str, ...]]:
        topic.sockets.clear()
        return {"at": 1}, ()

    telling = live.Live(answer)
    telling._topics[key] = topic
    topic.sockets.add(WebSocket({"type": "websocket"}, None, None))  # type: ignore[arg-type]
    asyncio.run(telling.changed({live.PIPELINE}))
    assert topic.whole
