"""A collector of its own home, as the stack starts it, against a real broker."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, TopicPartition

from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.ops.load.mortal import MortalCollector
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings


@pytest.fixture
def ports() -> Callable[[], int]:
    return free_port


class Collector(MortalCollector):
    """One collector that tests post to."""

    def post(
        self, body: bytes, kind: str = "application/json", to: str = "web.events", **headers: str
    ) -> httpx.Response:
        told = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return httpx.post(f"{self.url}/v1/{to}", content=body, headers=told, timeout=30)


def _starter(home: Path) -> Iterator[Callable[..., Collector]]:
    started: list[Collector] = []

    def start(kafka: str, home: Path = home, places: str = "") -> Collector:
        lake, port = str(home / "lake"), free_port()
        settings = Settings(home=home, lake=lake, kafka=kafka, collector_port=port, places=places)
        started.append(Collector(settings))
        started[-1].start().ready()
        return started[-1]

    yield start
    for collector in started:
        collector.kill()


@pytest.fixture
def collector_of(tmp_path: Path) -> Iterator[Callable[..., Collector]]:
    """Starts collectors: `collector_of(kafka, home=…)`. All are gone after the test."""
    yield from _starter(tmp_path)


@pytest.fixture(scope="module")
def collectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Collector]]:
    """Starts collectors that live as long as a module's tests."""
    yield from _starter(tmp_path_factory.mktemp("collector"))


@pytest.fixture(scope="module")
def collector(broker: str, collectors: Callable[..., Collector]) -> Collector:
    """One collector for the tests of a module."""
    ensure(broker, [source("web.events")])
    return collectors(broker)


def read(kafka: str, topic: str, seconds: float) -> Iterator[Message]:
    """The topic's messages from its beginning, until none has come for so long."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "tests", "enable.auto.commit": False, "log_level": 0})
    partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions])
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for message in consumer.consume(10_000, 0.2):
            deadline = time.monotonic() + seconds
            yield message
    consumer.close()


@pytest.fixture
def log_of() -> Callable[[str, str, float], Iterator[Message]]:
    return read


@pytest.fixture
def on_log(request: pytest.FixtureRequest) -> Callable[..., dict[str, Message]]:
    """Those messages of a topic, by event id, that have one of these ids."""

    def find(
        ids: list[str], topic: str = "web.events", kafka: str | None = None, seconds: float = 10
    ) -> dict[str, Message]:
        wanted, found = set(ids), {}
        for message in read(kafka or request.getfixturevalue("broker"), topic, seconds):
            # Who writes to the topic directly may leave the headers out.
            event_id = dict(message.headers() or []).get("event_id", b"").decode()
            if event_id in wanted:
                found[event_id] = message
            if len(found) == len(wanted):
                break
        return found

    return find
