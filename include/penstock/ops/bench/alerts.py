"""From the collector's receipt of an event to its alert in the topic, at 1,000 events a second beside all web views.

The rule is urgent in a copy of the web's code. The table gets the same alert with silver's epoch: what a rule that is
not urgent takes.
"""

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import numpy as np
from confluent_kafka import Consumer, Message, TopicPartition

from penstock.lake.layout import Layout
from penstock.log.alerts import PARTITIONS, TOPIC
from penstock.log.topics import ensure_named
from penstock.ops.bench import Figure
from penstock.ops.bench.freshness import RATE, WARM_SECONDS, percentile
from penstock.ops.load.meanwhile import meanwhile
from penstock.ops.load.releases import other_code
from penstock.ops.rig import Rig, commits, rig

# One page view of a hundred, and the rule told at once.
SLOW, SOME = "load_ms > 10000", "load_ms < 30"
ARMED, URGENT = "armed=True,", "armed=True, urgent=True,"
GOALS = {50: "<= 0.05 s", 99: "<= 0.25 s"}


def run(quick: bool) -> Iterator[Figure]:
    seconds = 20 if quick else 120
    with rig() as place, heard(place) as told:
        with place.driver(code=urgent(place)):
            place.produce(1000)
            place.wait(place.silver, 1000)
            place.produce(int(RATE * (WARM_SECONDS + seconds)), RATE)
            place.wait(place.silver, place.sent)
            kept = ages(place)
        steady = [late for received, late in sorted(told.late.values())][-int(RATE * seconds / 100) :]
        # Each in the topic, none twice, and the same that the table has.
        right = len(told.late) == len(kept) == told.messages and len(steady) > 0
        detail = {"alerts": len(kept), "driver_gb": round(place.cost.peak_gb, 2)}
        for share, goal in GOALS.items():
            late, by_epoch = (percentile(some, share) for some in (steady, kept[-len(steady) :]))
            words = f"seconds from receipt to an urgent alert, p{share}"
            yield Figure("alerts", words, late, goal=goal, gate_ok=right, detail=detail | {"with_an_epoch": by_epoch})


def urgent(place: Rig) -> Path:
    code = other_code(place.settings, "rules.py", SLOW, SOME) / "include"
    file = code / "domains/web/rules.py"
    file.write_text(file.read_text().replace(ARMED, URGENT, 1))
    return code


@dataclass
class Told:
    """Alert -> when its event was received, and how much later its message was read; and all messages."""

    late: dict[str, tuple[float, float]] = field(default_factory=dict)
    messages: int = 0

    def hear(self, message: Message) -> None:
        now, alert = time.time(), json.loads(message.value() or b"")
        received = np.datetime64(alert["received_at"][:26], "us").astype(int) / 1e6
        self.late.setdefault(alert["id"], (received, now - received))
        self.messages += 1


@contextmanager
def heard(place: Rig) -> Iterator[Told]:
    """Reads the topic until the block ends."""
    kafka, told = place.settings.kafka, Told()
    ensure_named(kafka, TOPIC, PARTITIONS, 60)
    reader = Consumer({"bootstrap.servers": kafka, "group.id": "bench", "enable.auto.commit": False})
    reader.assign([TopicPartition(TOPIC, part, 0) for part in range(PARTITIONS)])

    def read(over: Event) -> None:
        while not over.is_set():
            message = reader.poll(0.1)
            if message is not None and message.error() is None:
                told.hear(message)

    with closing(reader), meanwhile(read):
        yield told


def ages(place: Rig) -> list[float]:
    """How old each alert's event was when the table had it, in the order of arrival."""
    told = [
        (received.timestamp(), commit.at - received.timestamp())
        for commit in commits(Layout(place.settings.lake).alerts(), "received_at")
        for received in commit.rows["received_at"].to_pylist()
    ]
    return [late for _, late in sorted(told)]
