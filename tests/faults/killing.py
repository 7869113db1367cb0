"""Kills the streaming driver and the broker under load, then compares every row with the oracle.

Half of the drivers die at a moment of chance, the others at a named point of an epoch; Python, the JVM or both.
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
from faults.points import POINTS
from oracle.recompute import Row, differences
from oracle.recompute import log as records_of
from oracle.traffic import traffic

from penstock.engine.checkpoints import book, places
from penstock.engine.posting import post
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.ledger import Balance, balance
from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.ops.load.mortal import MortalBroker
from penstock.settings import Settings

TOPIC = "web.events"
JOB = Path(__file__).parents[2] / "spark_jobs" / "stream.py"
FUSED = Path(__file__).with_name("fused_driver.py")
RATE = 100
# Records of an epoch that two tasks read by themselves, as few as there can be (stream.APART for each, and some more).
EPOCH = 41_000
PATIENCE = 240.0


class Scene:
    """A home, a log, a driver to kill and a sender that does not notice."""

    def __init__(self, settings: Settings, log: MortalBroker, seed: int) -> None:
        self.settings, self.layout, self.log = settings, Layout(settings.lake), log
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

    def fill(self, count: int) -> None:
        """A backlog, as fast as the log takes it."""
        held = {"queue.buffering.max.messages": count + 1, "queue.buffering.max.kbytes": 1 << 20}
        producer = Producer({"bootstrap.servers": self.settings.kafka, "acks": "all", "log_level": 0, **held})
        for record in traffic(self.seed, count):
            producer.produce(TOPIC, record.value, key=record.key, headers=record.headers)
        producer.flush()
        self.sent += count

    def start(self, *fuse: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, *([str(FUSED), *fuse] if fuse else [str(JOB)]), "--sources", TOPIC]
        said = (self.settings.home / "driver.log").open("ab")
        return subprocess.Popen(command, env={**os.environ, **self.settings.to_env()}, stdout=said, stderr=said)

    def kill(self) -> str:
        """kill -9 of a new driver's Python, JVM or both, at a named point or a moment after its first epoch."""
        whom, point = self.chance.choice(["python", "jvm", "both"]), self.chance.choice([*POINTS, *[""] * len(POINTS)])
        driver = self.start(whom, point) if point else self.start()
        family = [psutil.Process(driver.pid)]
        if not point:
            self.advance()
            time.sleep(self.chance.random() * 1.5)
            family += family[0].children(recursive=True)
            for process in family:
                if whom == "both" or ("java" in process.name()) == (whom == "jvm"):
                    process.send_signal(signal.SIGKILL)
        driver.wait(PATIENCE)
        psutil.wait_procs(family, 60)
        return f"{whom} {point or 'at random'}"

    def burn(self, whom: str, point: str) -> None:
        """kill -9 of a new driver at a named point, wherever it comes to it."""
        driver = self.start(whom, point)
        assert driver.wait(PATIENCE) == -signal.SIGKILL, f"the driver never came to where {point}"

    def kill_log(self) -> str:
        """kill -9 of the broker under a driver that goes on by itself, and is asked to stop when it has."""
        driver = self.start()
        self.advance()
        self.log.kill()
        time.sleep(self.chance.random() * 3)
        self.log.start()
        self.log.ready()
        self.advance(2)
        driver.terminate()
        driver.wait(PATIENCE)
        return "broker"

    def advance(self, epochs: int = 1) -> None:
        beyond = self.epoch() + epochs
        try:
            until(lambda: self.epoch() >= beyond, f"epoch {beyond}")
        except TimeoutError as late:
            late.add_note("\n".join((self.settings.home / "driver.log").read_text().splitlines()[-40:]))
            raise

    def epoch(self) -> int:
        file = self.settings.home / "run" / "streams" / f"shape-{TOPIC}.json"
        return int(json.loads(file.read_text())["epoch"]) if file.exists() else -1

    def finish(self) -> None:
        """A last driver, until everything that was sent is there."""
        driver = self.start()
        try:
            silver, bronze = self.layout.silver("r1", TOPIC), self.layout.bronze(TOPIC)
            for path in (silver, bronze):
                until(lambda path=path: self.rows(path, "offset").num_rows >= self.sent, f"end of {path}")  # type: ignore[misc]
        finally:
            driver.terminate()
            driver.wait(60)

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


def play(settings: Settings, log: MortalBroker, seed: int, kills: int) -> "Scene":
    """Sends, kills and lets the last driver finish. The broker is killed once."""
    scene = Scene(settings, log, seed)
    sender = threading.Thread(target=scene.send)
    sender.start()
    try:
        whom = [scene.kill_log(), *(scene.kill() for _ in range(kills - 1))]
    finally:
        scene.over.set()
        sender.join()
    print(f"seed {seed}: killed {whom}, {scene.sent} records sent", flush=True)  # noqa: T201
    scene.finish()
    return scene


def overtaken(layout: Layout) -> bool:
    """Whether Spark has called an epoch done that silver does not have, and has begun the next one."""
    shaping = places(layout, TOPIC, FIRST_RELEASE)[1]
    written = book(shaping.table)
    return written is not None and Path(shaping.checkpoint, "offsets", str(written.epoch + 2)).exists()


def verdict(scene: Scene) -> list[str]:
    """Everything that must hold after any crash; empty when it does."""
    records = records_of(scene.settings.kafka, TOPIC)
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


def settings_of(home: Path, log: MortalBroker) -> Settings:
    return Settings(home=home, lake=str(home / "lake"), kafka=log.address, compiler="quick")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=10)
    told = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="penstock-kill-"))
    log = MortalBroker(home / "broker").ready()
    try:
        wrong = verdict(play(settings_of(home, log), log, told.seed, told.kills))
    finally:
        log.kill()
    print("\n".join(wrong) or "every row is right", flush=True)  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
