"""What a change of shift costs: how long silver gets nothing new, while page views keep coming to a whole stack."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

from confluent_kafka import Producer

from penstock.cockpit import Cockpit
from penstock.engine.lease import ask_to_end, leases_in, of_driver
from penstock.engine.progress import read
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.domain import source
from penstock.model.group import REST
from penstock.ops.bench import Figure, submit
from penstock.ops.bench.submit import airflow, until
from penstock.ops.load.meanwhile import meanwhile
from penstock.ops.rig import TOPIC, commits, send, written
from penstock.settings import Settings

NAME = "shift"
NEEDED = ("broker", "collector", "api-server", "scheduler", "dag-processor")
PER_SECOND = 10
# The first epochs of a driver compile their plans.
WARM = 20.0
SHIFTS, QUICK_SHIFTS = 5, 1


def run(quick: bool) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder, airflow(Path(folder, "home"), NEEDED) as settings:
        cockpit, silver = Cockpit(settings, "admin"), Layout(settings.lake).silver(FIRST_RELEASE, TOPIC)
        until(lambda: REST in submit.durations(cockpit), "the DAG files to be read")
        cockpit.unpause(REST)
        until(lambda: said(settings).get("state") == "running", "the streams")
        with trickling(settings.kafka) as sent:
            until(lambda: Path(silver).is_dir() and written(silver) > 0, "the first facts")
            parts = [changed(settings, silver) for _ in range(QUICK_SHIFTS if quick else SHIFTS)]
        until(lambda: written(silver) >= len(sent), "the last facts")
        took = [round(without, 1) for without, _ in parts]
        yield Figure(
            NAME,
            "seconds in which silver gets nothing new at a change of shift, the longest",
            max(took),
            goal="<= 15 s",
            gate_ok=written(silver) == len(sent),
            detail={"all": took, "until the next driver's first word": [round(word, 1) for _, word in parts]},
        )


def changed(settings: Settings, silver: str) -> tuple[float, float]:
    """The longest time between two commits around the end of a shift, and when the next driver said its first word."""
    time.sleep(WARM)
    begun, before = time.time(), said(settings)
    ask_to_end(leases_in(settings.home), of_driver([source(TOPIC)], FIRST_RELEASE))
    until(lambda: said(settings).get("pid") != before["pid"], "the next driver")
    word = time.time() - begun
    until(lambda: said(settings).get("epoch", -1) > before["epoch"] + 1, "its first epochs")
    moments = [commit.at for commit in commits(silver)]
    near = [moment for moment in moments if moment > begun - WARM]
    return max(later - earlier for earlier, later in pairwise(near)), word


def said(settings: Settings) -> dict[str, Any]:
    """What the shape of page views last said."""
    return next((one for one in read(settings.home) if one["job"] == f"shape-{TOPIC}"), {})


@contextmanager
def trickling(kafka: str) -> Iterator[list[int]]:
    """Page views that keep coming; the numbers of those that were sent."""
    producer, sent = Producer({"bootstrap.servers": kafka, "acks": "all", "log_level": 0}), list[int]()

    def trickle(over: Event) -> None:
        while not over.wait(1 / PER_SECOND):
            send(producer, len(sent))
            sent.append(len(sent))

    try:
        with meanwhile(trickle):
            yield sent
    finally:
        producer.flush()
