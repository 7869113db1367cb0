"""kill -9 of the collector and of the broker, under load with retries: every id answered with 2xx is on the log.

The broker dies 3 times (333 with PENSTOCK_FULL, else PENSTOCK_KILLS), the collector twice as often. A collector that
acknowledges before the log has the event is run through the same test, to show that the test would notice.
"""

import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import orjson
import pytest
from confluent_kafka.admin import AdminClient

from penstock.log.broker import Broker
from penstock.log.topics import ensure
from penstock.model.domain import source

KILLS = int(os.environ.get("PENSTOCK_KILLS", "333" if os.environ.get("PENSTOCK_FULL") else "3"))
SENDERS = 4

# The planted bug: whoever appends is told at once that all is well.
TOO_EARLY = """
import asyncio, runpy
from penstock.log import producer
append = producer.Log.append
def early(self, records, placed=False):
    append(self, records, placed).add_done_callback(lambda done: done.exception())
    told = asyncio.get_running_loop().create_future()
    told.set_result([])
    return told
producer.Log.append = early
runpy.run_module("penstock.collect", run_name="__main__")
"""


class Node:
    """A broker that can be killed and comes back with its data."""

    def __init__(self, folder: Path, ports: tuple[int, int]) -> None:
        self.broker = Broker(folder, *ports)
        self.broker.prepare()
        self.address = f"127.0.0.1:{ports[0]}"

    def start(self) -> None:
        self.process = subprocess.Popen(self.broker.command(), stdout=subprocess.DEVNULL)

    def ready(self) -> None:
        AdminClient({"bootstrap.servers": self.address, "log_level": 0}).list_topics(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def node(tmp_path: Path, ports: Callable[[], int]) -> Iterator[Node]:
    node = Node(tmp_path / "broker", (ports(), ports()))
    node.start()
    node.ready()
    ensure(node.address, [source("web.events")])
    yield node
    node.kill()


class Load:
    """Senders that repeat each batch, with the same ids, until it is answered with a 2xx."""

    def __init__(self, url: str) -> None:
        self.url = url + "/v1/web.events"
        self.acknowledged: list[str] = []
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(SENDERS)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        with httpx.Client(timeout=10) as client:
            while not self._over.is_set():
                ids = [str(uuid.uuid4()) for _ in range(5)]
                body = orjson.dumps([{"event_id": event_id, "visitor": ids[0]} for event_id in ids])
                while not self._over.is_set() and not self._accepted(client, body):
                    time.sleep(0.02)
                else:
                    self.acknowledged += ids if not self._over.is_set() else []

    def _accepted(self, client: httpx.Client, body: bytes) -> bool:
        try:
            return client.post(self.url, content=body, headers={"content-type": "application/json"}).is_success
        except httpx.TransportError:
            return False


def torment(node: Node, collector, kills: int) -> list[str]:
    """Kills each `kills` times, and returns the ids that were acknowledged meanwhile."""
    with Load(collector.url) as load:
        for _ in range(kills):
            time.sleep(0.3)
            node.kill()
            time.sleep(0.7)
            collector.kill()
            collector.start()
            time.sleep(0.3)
            node.start()
            node.ready()
            time.sleep(0.5)
            collector.kill()
            collector.start()
    return load.acknowledged


def drained(collector) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if httpx.get(collector.url + "/readyz").json()["log"] == "direct":
            return
        time.sleep(0.1)
    raise TimeoutError("the spool was not drained")


@pytest.mark.timeout(300 + 60 * KILLS)
def test_every_acknowledged_event_survives_the_death_of_collector_and_broker(node, collector_of, on_log) -> None:
    collector = collector_of(node.address)
    acknowledged = torment(node, collector, KILLS)
    drained(collector)
    missing = set(acknowledged) - on_log(acknowledged, kafka=node.address).keys()
    sys.stdout.write(f"{len(acknowledged)} acknowledged, {3 * KILLS} kills, {len(missing)} missing\n")
    assert len(acknowledged) > 100
    assert not missing


def test_the_same_test_catches_a_collector_that_acknowledges_too_early(node, collector_of, on_log) -> None:
    collector = collector_of(node.address, argv=(sys.executable, "-c", TOO_EARLY))
    acknowledged = torment(node, collector, 1)
    assert set(acknowledged) - on_log(acknowledged, kafka=node.address, seconds=5).keys()


def test_a_collector_without_a_log_keeps_events_and_delivers_them_later(node, collector_of, on_log) -> None:
    node.kill()
    collector = collector_of(node.address)
    ids = collector.post(b'[{"visitor":"a"},{"visitor":"b"}]').json()["ids"]
    assert collector.stop() == 0
    node.start()
    node.ready()
    collector.start()
    drained(collector)
    assert on_log(ids, kafka=node.address).keys() == set(ids)


def test_a_full_spool_is_a_503_with_retry_after_and_later_all_is_well(node, collector_of, tmp_path) -> None:
    (tmp_path / "collector.toml").write_text("[limits]\nspool = 2000\n")
    node.kill()
    collector = collector_of(node.address)
    answers = [collector.post(b'{"visitor":"a"}') for _ in range(20)]
    assert {answer.status_code for answer in answers} == {202, 503}
    assert int(answers[-1].headers["retry-after"]) > 0
    node.start()
    node.ready()
    drained(collector)
    assert collector.post(b'{"visitor":"a"}').status_code == 202
