"""The collector against servers that only parse: requests and events for each second of processor time.

Figures are per second of the server's own processor time, librdkafka's threads included, so that they say what one
core does even while other programs share the machine.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace

import httpx
import orjson
import psutil
from confluent_kafka import Consumer, TopicPartition

from penstock.ops.bench import Figure
from penstock.ops.load.bomb import bomb, growth
from penstock.ops.load.servers import HERE, Measured, go_peer, measure, server
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
MANY = 10_000_000


def run(quick: bool) -> Iterator[Figure]:
    uvicorn, go = _peers(_seconds(quick))
    with rig() as place:
        settings = replace(place.settings, collector_port=free_port())
        command = [sys.executable, "-m", "penstock.collect"]
        with server(command, settings.collector_port, settings.to_env()) as process:
            measure(process, settings.collector_port, ONE, 1)
            yield from _measured(process, settings, quick, uvicorn, go)


def _seconds(quick: bool) -> float:
    return 5.0 if quick else 20.0


def _peers(seconds: float) -> tuple[float, float | None]:
    """Requests per processor second of a parse-only uvicorn application and of a parse-only Go server."""
    port = free_port()
    with server([sys.executable, str(HERE / "parse_only.py"), str(port)], port) as process:
        uvicorn = measure(process, port, ONE, seconds).per_core
    port = free_port()
    with go_peer(port) as command:
        if command is None:
            return uvicorn, None
        with server(command, port, {"GOMAXPROCS": "1"}) as process:
            return uvicorn, measure(process, port, ONE, seconds).per_core


def _measured(
    process: psutil.Process, settings: Settings, quick: bool, uvicorn: float, go: float | None
) -> Iterator[Figure]:
    seconds = _seconds(quick)
    port, before = settings.collector_port, _on_log(settings.kafka)
    one = measure(process, port, ONE, seconds)
    fifty = measure(process, port, FIFTY, seconds)
    half = measure(process, port, ONE, seconds, one.requests / one.seconds / 2)
    counted = one.requests + 50 * fifty.requests + half.requests
    # The last requests of a load are cut off after they were sent: the log may have more, never less.
    sound = _on_log(settings.kafka) - before >= counted and not one.bad + fifty.bad + half.bad
    yield _figure(
        "requests/s of a core, against uvicorn that only parses", one.per_core, uvicorn, ">= 0.5x", sound, one
    )
    against = "against Go that only parses" + ("" if go else " (no Go here)")
    yield _figure(f"requests/s of a core, {against}", one.per_core, go, ">= 0.35x", sound, one)
    yield _figure("events/s of a core, 50 a request", 50 * fifty.per_core, None, ">= 250000", sound, fifty)
    yield _figure("ms to acknowledge at half load, 99 of 100", half.p99, None, "<= 10", sound, half)
    yield _figure("MiB that bombs of 1:1000 add", _bombed(process, port), None, "<= 64", sound, half)
    while counted < (0 if quick else MANY):
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
