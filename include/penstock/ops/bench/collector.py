"""The collector against servers that only parse: requests and events for each second of processor time.

Figures are per second of the server's own processor time, librdkafka's threads included, so that they say what one
core does even while other programs share the machine.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import httpx
import orjson
import psutil
from confluent_kafka import Consumer, TopicPartition

from penstock.ops.bench import Figure
from penstock.ops.load.bomb import bomb, growth
from penstock.ops.load.servers import FEW, HERE, MANY, Measured, go_peer, measure, server
from penstock.ops.rig import TOPIC, rig
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

EVENT = {
    "type": "pageview", "site": "a.example", "visitor": "0192f0a0b7c1", "url": "https://a.example/x?utm_source=mail",
    "happened_at": 1763475000000, "title": "A page", "language": "en-GB", "screen": "1920x1080", "load_ms": 812,
}  # fmt: skip
ONE = orjson.dumps(EVENT)
FIFTY = orjson.dumps([EVENT] * 50)
MIB = 1024**2
# After so many events memory says whether anything is kept of them.
MANY_EVENTS = 10_000_000


class Peers(NamedTuple):
    """Requests per processor second of servers that only parse: uvicorn, and Go where it is installed."""

    uvicorn: float
    go: float | None


def run(quick: bool) -> Iterator[Figure]:
    peers = {connections: _peers(_seconds(quick), connections) for connections in (FEW, MANY)}
    with rig() as place:
        settings = replace(place.settings, collector_port=free_port())
        command = [sys.executable, "-m", "penstock.collect"]
        with server(command, settings.collector_port, settings.to_env()) as process:
            measure(process, settings.collector_port, ONE, 1)
            yield from _measured(process, settings, quick, peers)


def _seconds(quick: bool) -> float:
    return 5.0 if quick else 20.0


def _peers(seconds: float, connections: int) -> Peers:
    port = free_port()
    with server([sys.executable, str(HERE / "parse_only.py"), str(port)], port) as process:
        uvicorn = measure(process, port, ONE, seconds, connections=connections).per_core
    port = free_port()
    with go_peer(port) as command:
        if command is None:
            return Peers(uvicorn, None)
        with server(command, port, {"GOMAXPROCS": "1"}) as process:
            return Peers(uvicorn, measure(process, port, ONE, seconds, connections=connections).per_core)


def _measured(process: psutil.Process, settings: Settings, quick: bool, peers: Mapping[int, Peers]) -> Iterator[Figure]:
    seconds = _seconds(quick)
    port, before = settings.collector_port, _on_log(settings.kafka)
    single = {connections: measure(process, port, ONE, seconds, connections=connections) for connections in peers}
    fifty = measure(process, port, FIFTY, seconds)
    one = single[FEW]
    half = measure(process, port, ONE, seconds, one.requests / one.seconds / 2)
    all_of_one = [*single.values(), half]
    counted = sum(each.requests for each in all_of_one) + 50 * fifty.requests
    # The last requests of a load are cut off after they were sent: the log may have more, never less.
    sound = _on_log(settings.kafka) - before >= counted and not sum(each.bad for each in [*all_of_one, fifty])
    for connections, ours in single.items():
        by = f"requests/s of a core, {connections} connections"
        uvicorn, go = peers[connections]
        yield _figure(f"{by}, against uvicorn that only parses", ours.per_core, uvicorn, ">= 0.5x", sound, ours)
        against = "against Go that only parses" + ("" if go else " (no Go here)")
        yield _figure(f"{by}, {against}", ours.per_core, go, ">= 0.35x", sound, ours)
    yield _figure("events/s of a core, 50 a request", 50 * fifty.per_core, None, ">= 250000", sound, fifty)
    yield _figure("ms to acknowledge at half load, 99 of 100", half.p99, None, "<= 10", sound, half)
    yield _figure("MiB that bombs of 1:1000 add", _bombed(process, port), None, "<= 64", sound, half)
    while counted < (0 if quick else MANY_EVENTS):
        more = measure(process, port, FIFTY, seconds)
        counted += 50 * more.requests
    memory = process.memory_info().rss / MIB
    yield _figure(f"MiB of memory after {counted} events", memory, None, "<= 100", sound, half)


def _bombed(process: psutil.Process, port: int) -> float:
    with growth(process) as grown:
        for encoding in ("gzip", "zstd"):
            headers = {"content-type": "application/json", "content-encoding": encoding}
            httpx.post(f"http://127.0.0.1:{port}/v1/{TOPIC}", content=bomb(encoding), headers=headers, timeout=60)
    return max(grown) / MIB


def _figure(what: str, ours: float, peer: float | None, goal: str, sound: bool, measured: Measured) -> Figure:
    detail = {"requests": measured.requests, "seconds": round(measured.seconds, 1), "cpu": round(measured.cpu, 2)}
    told = round(peer) if peer else None
    return Figure("collector", what, round(ours, 1), peer=told, goal=goal, gate_ok=sound, detail=detail)


def _on_log(kafka: str) -> int:
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "bench"})
    partitions = consumer.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions
    ends = (consumer.get_watermark_offsets(TopicPartition(TOPIC, partition), timeout=10) for partition in partitions)
    total = sum(high for _, high in ends)
    consumer.close()
    return int(total)
