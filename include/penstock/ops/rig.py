"""A broker, a streaming driver and a server of a measurement's own, and what their commits say afterwards."""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Producer

from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.ops.load.meanwhile import meanwhile
from penstock.ops.load.mortal import MortalBroker
from penstock.ops.stack.health import fetch
from penstock.settings import Settings

TOPIC = "web.events"
VISITORS = 5000
JOB = Path(__file__).parents[3] / "spark_jobs" / "stream.py"
# The same, of which only the archives run.
ARCHIVES = Path(__file__).with_name("load") / "archives.py"
PATIENCE = 600.0
SERVER_PATIENCE = 60.0


@contextmanager
def serving(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """The read API and the console, run as production runs them, from when they answer."""
    server = subprocess.Popen(
        [sys.executable, "-m", "penstock.serve"], env={**os.environ, **settings.to_env()}, stdout=subprocess.DEVNULL
    )
    try:
        limit = time.monotonic() + SERVER_PATIENCE
        while fetch(f"http://127.0.0.1:{settings.serve_port}/healthz") is None:
            if server.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"the server did not answer in {SERVER_PATIENCE:.0f} s")
            time.sleep(0.1)
        yield server
    finally:
        server.terminate()
        server.wait()


class Commit(NamedTuple):
    """When a version could be read, and the rows that it added."""

    at: float
    rows: pa.Table


@dataclass
class Cost:
    """What the driver's processes, JVM and Python together, have used."""

    cpu_seconds: float = 0.0
    peak_gb: float = 0.0


@dataclass
class Rig:
    settings: Settings
    cost: Cost = field(default_factory=Cost)
    sent: int = 0

    @property
    def silver(self) -> str:
        return Layout(self.settings.lake).silver(FIRST_RELEASE, TOPIC)

    @property
    def bronze(self) -> str:
        return Layout(self.settings.lake).bronze(TOPIC)

    def produce(self, count: int, rate: float | None = None) -> None:
        """Sends page views of about 400 bytes; as fast as the log takes them when there is no rate."""
        producer = Producer({"bootstrap.servers": self.settings.kafka, "acks": "all", "linger.ms": 5, "log_level": 0})
        begun = time.time()
        for number in range(count):
            while rate and number > (time.time() - begun) * rate:
                producer.poll(0.005)
            send(producer, number)
        producer.flush()
        self.sent += count

    @contextmanager
    def sending(self, rate: float) -> Iterator[None]:
        """Events that come evenly for as long as it is open."""

        def send(over: Event) -> None:
            while not over.is_set():
                self.produce(int(rate), rate)

        with meanwhile(send):
            yield

    @contextmanager
    def driver(self, code: Path | None = None, job: Path = JOB) -> Iterator[subprocess.Popen[bytes]]:
        """The streams of web events, run as production runs them, by other code if so said; measured until they are
        stopped."""
        first = {"PYTHONPATH": str(code)} if code else {}
        with (self.settings.home / "driver.log").open("ab") as said:
            process = subprocess.Popen(
                [sys.executable, str(job), "--sources", TOPIC],
                env={**os.environ, **self.settings.to_env(), **first},
                stdout=said,
                stderr=said,
            )
        with measured(process.pid, self.cost):
            try:
                yield process
            finally:
                process.terminate()
                process.wait(60)

    def wait(self, table: str, count: int) -> None:
        """Until the table has so many rows: as long as it takes, while there are more each time."""
        limit, had = time.time() + PATIENCE, 0
        while (has := written(table)) < count:
            if has > had:
                limit, had = time.time() + PATIENCE, has
            if time.time() > limit:
                raise TimeoutError(f"{table} has not {count} rows; see {self.settings.home / 'driver.log'}")
            time.sleep(1)


@contextmanager
def rig() -> Iterator[Rig]:
    """A rig in a fresh home; nothing of it is left."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        home = Path(folder)
        broker = MortalBroker(home / "broker", quick=False)
        try:
            settings = Settings(home=home, lake=str(home / "lake"), kafka=broker.address)
            _ensure(settings.kafka)
            yield Rig(settings)
        finally:
            broker.kill()


def commits(table: str, *columns: str) -> Iterator[Commit]:
    """The table's commits that added data, oldest first."""
    for version in sorted(Path(table, "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in version.read_text().splitlines()]
        files = [action["add"]["path"] for action in actions if action.get("add", {}).get("dataChange")]
        if files:
            parts = [pq.read_table(Path(table, file), columns=list(columns), partitioning=None) for file in files]
            yield Commit(version.stat().st_mtime, pa.concat_tables(parts))


def written(table: str) -> int:
    """How many rows commits added. Read from their statistics: who waits must not take the cores from the work."""
    files = (action["add"] for version in _versions(table) for action in version if "add" in action)
    return sum(json.loads(file["stats"])["numRecords"] for file in files if file["dataChange"])


def _versions(table: str) -> Iterator[list[dict[str, Any]]]:
    for version in sorted(Path(table, "_delta_log").glob("*.json")):
        yield [json.loads(line) for line in version.read_text().splitlines()]


def _ensure(kafka: str) -> None:
    limit = time.time() + 60
    while True:
        try:
            ensure(kafka, [source(TOPIC)], timeout=10)
            return
        except ConnectionError:
            if time.time() > limit:
                raise


def send(producer: Producer, number: int, at: float | None = None) -> None:
    """One page view, logged now or as if it had been logged at a time."""
    now = int((time.time() if at is None else at) * 1000)
    key, value, headers = page_view(number, now)
    while True:
        try:
            producer.produce(TOPIC, value, key=key, headers=headers, timestamp=now)
            return
        except BufferError:
            producer.poll(0.1)


def page_view(number: int, now: int) -> tuple[str, bytes, dict[str, str | bytes | None]]:
    """One page view of about 400 bytes as a collector would log it: key, value and headers."""
    event = {
        "type": "pageview",
        "site": "bench.example",
        "visitor": f"v{number % VISITORS}",
        "url": f"https://bench.example/articles/{number % 400}/a-title-of-usual-length?utm_source=newsletter",
        "happened_at": now,
        "title": "A title of usual length - bench.example",
        "language": "en-GB",
        "screen": "1920x1080",
        "load_ms": number % 3000,
        "referrer": "https://search.example/?q=something",
    }
    return str(event["visitor"]), json.dumps(event).encode(), {"event_id": str(uuid.uuid4()), "received_at": str(now)}


@contextmanager
def measured(pid: int, cost: Cost) -> Iterator[None]:
    """Adds up what a process and its children use, while they are there."""
    with meanwhile(partial(_watch, pid, cost)):
        yield


def weight(process: psutil.Process) -> int:
    """Its share of memory in bytes, and what it keeps in files of no folder, whose pages nobody may have looked at."""
    kept = 0
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(OSError):
            kept += file.stat().st_blocks * 512 if str(file.readlink()).startswith("/memfd:") else 0
    return int(process.memory_full_info().pss) + kept


def _watch(pid: int, cost: Cost, over: Event) -> None:
    ended = False
    while not ended:
        # With a last look, where the process is still there.
        ended = over.wait(2)
        try:
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            used, held = [one.cpu_times() for one in family], [weight(one) for one in family]
        except (psutil.Error, FileNotFoundError):
            continue
        cost.cpu_seconds = max(cost.cpu_seconds, sum(one.user + one.system for one in used))
        cost.peak_gb = max(cost.peak_gb, sum(held) / 2**30)
