"""Kills the streaming driver at random under load, then compares every row with the oracle.

Repeat any run by its seed: `PYTHONPATH=tests python -m faults.killing --seed 7 --kills 10`.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pyarrow as pa
from confluent_kafka import Producer
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from oracle.recompute import Row, differences, log
from oracle.traffic import traffic

from penstock.engine.posting import post
from penstock.lake.layout import Layout
from penstock.lake.ledger import Balance, balance
from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.settings import Settings

TOPIC = "web.events"
JOB = Path(__file__).parents[2] / "spark_jobs" / "stream.py"
RATE = 100
PATIENCE = 240.0


class Scene:
    """A home, a log, a driver to kill and a sender that does not notice."""

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings, self.layout = settings, Layout(settings.lake)
        self.chance = random.Random(seed)  # noqa: S311
        self.seed, self.sent, self.over = seed, 0, threading.Event()
        ensure(settings.kafka, [source(TOPIC)])

    def send(self) -> None:
        """Sends until it is over, and counts what the log acknowledged."""
        producer = Producer({"bootstrap.servers": self.settings.kafka, "acks": "all", "log_level": 0})
        for record in traffic(self.seed, 1_000_000):
            if self.over.wait(1 / RATE):
                break
            producer.produce(TOPIC, record.value, key=record.key, headers=record.headers)
            self.sent += 1
        producer.flush()

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(JOB), "--sources", TOPIC]
        said = (self.settings.home / "driver.log").open("ab")
        return subprocess.Popen(command, env={**os.environ, **self.settings.to_env()}, stdout=said, stderr=said)

    def kill(self, driver: subprocess.Popen[bytes]) -> str:
        """kill -9 of Python, of the JVM or of both, a moment after some epoch."""
        epoch = self.epoch()
        until(lambda: self.epoch() > epoch, f"an epoch after {epoch}")
        time.sleep(self.chance.random() * 1.5)
        whom = self.chance.choice(["python", "jvm", "both"])
        family = [psutil.Process(driver.pid), *psutil.Process(driver.pid).children(recursive=True)]
        for process in family:
            if whom == "both" or ("java" in process.name()) == (whom == "jvm"):
                process.send_signal(signal.SIGKILL)
        driver.wait(PATIENCE)
        psutil.wait_procs(family, 60)
        return whom

    def epoch(self) -> int:
        file = self.settings.home / "run" / "streams" / f"shape-{TOPIC}.json"
        return int(json.loads(file.read_text())["epoch"]) if file.exists() else -1

    def rows(self, path: str, *columns: str) -> pa.Table:
        try:
            return DeltaTable(path).to_pyarrow_table(columns=list(columns) or None)
        except TableNotFoundError:
            return pa.table({})


def until(true: Callable[[], bool], what: str) -> None:
    limit = time.time() + PATIENCE
    while not true():
        if time.time() > limit:
            raise TimeoutError(f"no {what} in {PATIENCE:.0f} s")
        time.sleep(0.2)


def play(settings: Settings, seed: int, kills: int) -> "Scene":
    """Sends, kills and lets the last driver finish."""
    scene = Scene(settings, seed)
    sender = threading.Thread(target=scene.send)
    sender.start()
    try:
        whom = [scene.kill(scene.start()) for _ in range(kills)]
    finally:
        scene.over.set()
        sender.join()
    print(f"seed {seed}: killed {whom}, {scene.sent} records sent", flush=True)  # noqa: T201
    driver = scene.start()
    try:
        silver, bronze = scene.layout.silver("r1", TOPIC), scene.layout.bronze(TOPIC)
        for path in (silver, bronze):
            until(lambda path=path: scene.rows(path, "offset").num_rows >= scene.sent, f"end of {path}")  # type: ignore[misc]
    finally:
        driver.terminate()
        driver.wait(60)
    return scene


def verdict(scene: Scene) -> list[str]:
    """Everything that must hold after any crash; empty when it does."""
    records = log(scene.settings.kafka, TOPIC)
    missing, extra = differences(records, scene.rows(scene.layout.silver("r1", TOPIC)))
    wrong = [f"silver lacks {row}" for row in missing[:3]] + [f"silver has {row}" for row in extra[:3]]
    if positions(scene.rows(scene.layout.bronze(TOPIC))) != positions(records):
        wrong.append("bronze is not the log")
    post(scene.layout, (source(TOPIC),), "r1")
    return wrong + [f"unbalanced: {row}" for row in books(scene) if not row.balanced]


def positions(rows: pa.Table) -> list[Row]:
    return sorted(zip(*(rows[name].to_pylist() for name in ("partition", "offset", "value")), strict=True))


def books(scene: Scene) -> list[Balance]:
    return balance(scene.layout.ledger(), scene.settings.kafka)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--kafka", required=True, help="a log on which nobody else uses web.events")
    told = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="penstock-kill-"))
    wrong = verdict(play(Settings(home=home, lake=str(home / "lake"), kafka=told.kafka), told.seed, told.kills))
    print("\n".join(wrong) or "every row is right", flush=True)  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
