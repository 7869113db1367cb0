"""Receipts, waiting and subscriptions: what a sender can learn, and what anybody can follow."""

import json
import socket
import threading
import time
from collections.abc import Iterator

import httpx
import orjson
import pyarrow as pa
import pytest
from confluent_kafka import Producer
from deltalake import write_deltalake
from websockets.sync.client import connect

from penstock.lake.layout import Layout


def bronze(collector, place: dict, source: str = "web.events") -> None:
    """What the archive query would commit for a record."""
    row = pa.Table.from_pylist([place], pa.schema([("partition", pa.int32()), ("offset", pa.int64())]))
    write_deltalake(Layout(collector.settings.lake).bronze(source), row, mode="append")


def silver(collector, events: list[dict], source: str = "web.events") -> None:
    """What the shape query would commit for these records."""
    rows = pa.Table.from_pylist(
        events,
        pa.schema(
            [
                ("partition", pa.int32()),
                ("offset", pa.int64()),
                ("event_id", pa.string()),
                ("disposition", pa.string()),
                ("reason", pa.string()),
            ]
        ),
    )
    write_deltalake(Layout(collector.settings.lake).silver("r1", source), rows, mode="append")


def place(message) -> dict:
    return {"partition": message.partition(), "offset": message.offset()}


def test_a_receipt_tells_accepted_and_then_the_disposition(collector, on_log) -> None:
    answer = collector.post(b'[{"visitor":"a"},{"visitor":"b"}]', prefer="respond-async")
    assert answer.status_code == 202
    receipt = collector.url + answer.headers["location"]
    assert httpx.get(receipt).json()["events"] == [{"stage": "accepted"}, {"stage": "accepted"}]
    first, second = answer.json()["ids"]
    found = on_log([first, second])
    silver(
        collector,
        [
            {**place(found[first]), "event_id": first, "disposition": "fact", "reason": None},
            {**place(found[second]), "event_id": second, "disposition": "rejected", "reason": "missing_type"},
        ],
    )
    assert httpx.get(receipt).json() == {
        "source": "web.events",
        "settled": True,
        "events": [{"id": first, "stage": "fact"}, {"id": second, "stage": "rejected", "reason": "missing_type"}],
    }


def test_a_receipt_tells_what_is_archived_and_not_shaped_yet(collector, on_log) -> None:
    answer = collector.post(b'[{"visitor":"a"},{"visitor":"b"}]', prefer="respond-async")
    first, *_ = answer.json()["ids"]
    bronze(collector, place(on_log([first])[first]))
    told = httpx.get(collector.url + answer.headers["location"]).json()
    assert told["events"] == [{"stage": "archived"}, {"stage": "accepted"}]
    assert not told["settled"]


def test_waiting_answers_200_once_shaped(collector, on_log) -> None:
    def shape() -> None:
        message = on_log(["waited-for"])["waited-for"]
        silver(collector, [{**place(message), "event_id": "waited-for", "disposition": "duplicate", "reason": None}])

    shaper = threading.Thread(target=shape)
    shaper.start()
    answer = collector.post(b'{"event_id":"waited-for"}', prefer="wait=25")
    shaper.join()
    assert (answer.status_code, answer.json()["events"]) == (200, [{"id": "waited-for", "stage": "duplicate"}])


def test_waiting_in_vain_is_a_202_with_a_receipt(collector) -> None:
    began = time.monotonic()
    answer = collector.post(b'{"visitor":"a"}', prefer="wait=1")
    assert answer.status_code == 202 and "location" in answer.headers
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("token", ["", "x", "A" * 60, "A" * 15_000, "é"])
def test_a_forged_receipt_is_unknown(collector, token) -> None:
    assert httpx.get(f"{collector.url}/v1/receipts/{token}").status_code == 404


def sse(collector, start: str) -> Iterator[tuple[str, dict]]:
    """(cursor, document) of each record."""
    with httpx.stream("GET", f"{collector.url}/v1/web.events/subscribe", params={"from": start}, timeout=20) as answer:
        cursor = kind = ""
        for line in answer.iter_lines():
            name, _, text = line.partition(": ")
            if name == "id":
                cursor = text
            elif name == "event":
                kind = text
            elif name == "data" and kind == "record":
                yield cursor, json.loads(text)


def test_a_subscriber_can_go_on_where_it_stopped(collector) -> None:
    body = b"\n".join(b'{"visitor": "%d"}' % number for number in range(40))
    ids = set(collector.post(body, "application/x-ndjson").json()["ids"])
    seen: list[str] = []
    place = "beginning"
    for enough in (20, 40):
        for cursor, document in sse(collector, place):
            seen.append(document["event_id"])
            if len(ids.intersection(seen)) == enough:
                place = cursor
                break
    # Of its own: what a sender that was killed sent twice, another test's, is on the log twice.
    assert sorted(one for one in seen if one in ids) == sorted(ids)


def test_a_websocket_tells_records_as_they_come(collector) -> None:
    address = collector.url.replace("http", "ws") + "/v1/web.events/subscribe"
    with connect(address) as line:
        (event_id,) = collector.post(b'{"visitor":"live"}').json()["ids"]
        record = orjson.loads(line.recv(timeout=20))["record"]
    assert (record["event_id"], record["value"]) == (event_id, {"visitor": "live"})


def test_what_producers_write_directly_is_followed_too(collector, broker) -> None:
    address = collector.url.replace("http", "ws") + "/v1/web.events/subscribe"
    with connect(address) as line:
        producer = Producer({"bootstrap.servers": broker})
        producer.produce("web.events", b"\x00\xff not json")
        producer.flush()
        assert orjson.loads(line.recv(timeout=20))["record"]["value_base64"] == "AP8gbm90IGpzb24="


def test_a_slow_subscriber_is_told_how_far_behind_it_is(collector) -> None:
    with socket.socket() as line:
        # A small window, so that what the kernels hold for a slow reader is soon full.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        line.connect(("127.0.0.1", collector.settings.collector_port))
        line.sendall(b"GET /v1/web.events/subscribe HTTP/1.1\r\nhost: x\r\n\r\n")
        assert b"alive" in line.recv(8192) + line.recv(8192)
        body = b"[" + b",".join([b'{"visitor":"x","text":"%s"}' % (b"x" * 1500)] * 500) + b"]"
        for _ in range(16):
            collector.post(body)
        told = b""
        while b"event: behind" not in told:
            told = told[-20:] + line.recv(1 << 20)


def test_a_bad_position_is_refused(collector) -> None:
    assert httpx.get(f"{collector.url}/v1/web.events/subscribe?from=99:1").status_code == 400


def test_a_collector_stops_although_somebody_follows(broker, collector_of) -> None:
    collector = collector_of(broker)
    with httpx.stream("GET", f"{collector.url}/v1/web.events/subscribe", timeout=30) as answer:
        next(answer.iter_lines())
        began = time.monotonic()
        assert collector.stop() == 0
    assert time.monotonic() - began < 9
