"""kill -9 of a collector and of its broker under load with retries: every id answered with a 2xx must be on the log.

Repeat any run by its seed: `python -m penstock.ops.load.torment --seed 7 --kills 10`. In each round both die once:
the collector at a moment of chance while the broker is dead, comes back, or has the spool drained into it.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import orjson
from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, TopicPartition

from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.ops.load.mortal import COLLECTOR, MortalBroker, MortalCollector
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

TOPIC = "web.events"
SENDERS = 4
# Nobody dies before so many more ids were acknowledged: each death is one under load.
BETWEEN = 100
PATIENCE = 120.0
# Of a sender after each batch: the machine is for those who die and come back.
PAUSE = 0.02


class Load:
    """Senders that repeat each batch, with the same ids, until it is answered with a 2xx. The list is theirs."""

    def __init__(self, url: str) -> None:
        self.acknowledged: list[str] = []
        self._url = f"{url}/v1/{TOPIC}"
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

    def advance(self) -> None:
        wanted, limit = len(self.acknowledged) + BETWEEN, time.monotonic() + PATIENCE
        while len(self.acknowledged) < wanted:
            if time.monotonic() > limit:
                raise TimeoutError(f"only {len(self.acknowledged)} of {wanted} events were acknowledged")
            time.sleep(0.01)

    def _send(self) -> None:
        with httpx.Client(timeout=10) as client:
            while not self._over.is_set():
                ids = [str(uuid.uuid4()) for _ in range(5)]
                body = orjson.dumps([{"event_id": event_id, "visitor": ids[0]} for event_id in ids])
                while not self._accepted(client, body):
                    if self._over.wait(PAUSE):
                        return
                self.acknowledged += ids
                self._over.wait(PAUSE)

    def _accepted(self, client: httpx.Client, body: bytes) -> bool:
        try:
            return client.post(self._url, content=body, headers={"content-type": "application/json"}).is_success
        except httpx.TransportError:
            return False


@dataclass
class Tormented:
    """What a run did and what it found."""

    seed: int
    kills: int
    acknowledged: int = 0
    missing: set[str] = field(default_factory=set)

    def line(self) -> str:
        again = f"again: python -m penstock.ops.load.torment --seed {self.seed} --kills {self.kills}"
        return (
            f"seed {self.seed}: collector killed {self.kills} times, broker {self.kills} times, "
            f"{self.acknowledged} events acknowledged, {len(self.missing)} missing ({again})"
        )


def torment(folder: Path, seed: int, kills: int, argv: Sequence[str] = COLLECTOR) -> Tormented:
    """A broker, a collector and senders of their own; kills, lets the spool drain, and looks for every id."""
    broker = MortalBroker(folder / "broker").ready()
    try:
        ensure(broker.address, [source(TOPIC)])
        home = folder / "home"
        settings = Settings(home=home, lake=str(home / "lake"), kafka=broker.address, collector_port=free_port())
        collector = MortalCollector(settings, argv).start()
        try:
            return _judged(broker, collector.ready(), Tormented(seed, kills))
        finally:
            collector.kill()
    finally:
        broker.kill()


def _judged(broker: MortalBroker, collector: MortalCollector, told: Tormented) -> Tormented:
    chance = random.Random(told.seed)  # noqa: S311 - a run that can be repeated, not a secret
    with Load(collector.url) as load:
        for _ in range(told.kills):
            load.advance()
            _round(broker, collector, chance)
        load.advance()
    collector.drained()
    told.acknowledged = len(load.acknowledged)
    told.missing = set(load.acknowledged) - on_log(broker.address)
    return told


def _round(broker: MortalBroker, collector: MortalCollector, chance: random.Random) -> None:
    """The broker dies and comes back by itself; the collector dies somewhere in between, or just after."""
    acts = [(chance.random() * 0.5, broker.start), (chance.random() * 4, collector.again)]
    broker.kill()
    begun = time.monotonic()
    for moment, act in sorted(acts, key=lambda each: each[0]):
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        act()
    broker.ready()
    collector.ready()


def on_log(kafka: str) -> set[str]:
    """Every event id between the beginning and the end that the log had when it was asked."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "torment", "enable.auto.commit": False})
    parts = [TopicPartition(TOPIC, part) for part in consumer.list_topics(TOPIC, timeout=30).topics[TOPIC].partitions]
    left = sum(consumer.get_watermark_offsets(part, timeout=30)[1] for part in parts)
    consumer.assign([TopicPartition(TOPIC, part.partition, OFFSET_BEGINNING) for part in parts])
    found: set[str] = set()
    while left > 0:
        messages = consumer.consume(10_000, 30)
        if not messages:
            raise TimeoutError(f"{left} records of the log did not come")
        left -= len(messages)
        found |= {_id(message) for message in messages}
    consumer.close()
    return found


def _id(message: Message) -> str:
    envelope: dict[str, Any] = dict(message.headers() or [])
    return str(envelope["event_id"].decode())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=10)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        told = torment(Path(folder), asked.seed, asked.kills)
    sys.stdout.write(told.line() + "\n")
    return 1 if told.missing else 0


if __name__ == "__main__":
    sys.exit(main())
