"""What a sender learns of an event from the collector, with the real streams behind it."""

import json
import urllib.request
from typing import Any

from operators import BROWSER
from standing import RunningStack, eventually

PATIENCE = 200.0
VIEW = {"type": "pageview", "site": "answers.example", "visitor": "v1", "url": "https://answers.example/"}


def ask(address: str, body: object = None, prefer: str = "") -> tuple[int, dict[str, Any]]:
    headers = {"content-type": "application/json", "user-agent": BROWSER, "prefer": prefer}
    sent = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(address, sent, headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
        return answer.status, json.loads(answer.read())


def test_a_sender_waits_for_the_disposition_and_a_receipt_tells_what_became_of_a_copy(stack: RunningStack) -> None:
    edge = stack.url("collector", "/v1/web.events")
    # The first epoch of a driver that was just started takes its time.
    assert eventually(lambda: ask(edge, VIEW, "wait=30")[0] == 200, PATIENCE)
    sent = [{**VIEW, "event_id": "answers-1"}, {**VIEW, "event_id": "answers-2", "url": ""}]
    status, told = ask(edge, sent, "wait=60")
    assert status == 200
    assert [event["stage"] for event in told["events"]] == ["fact", "rejected"]
    receipt = stack.url("collector", "/v1/receipts/" + ask(edge, sent[0], "respond-async")[1]["receipt"])
    assert eventually(lambda: ask(receipt)[1]["settled"], PATIENCE)
    assert [event["stage"] for event in ask(receipt)[1]["events"]] == ["duplicate"]
