"""Records of a real log become rows of bronze and silver, through the streams that production runs."""

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from penstock.engine import progress
from penstock.engine.archive import Archive
from penstock.engine.shape import Shape
from penstock.engine.stream import Job, Stream
from penstock.lake.layout import Layout
from penstock.log.topics import ensure
from penstock.model.domain import domains
from penstock.model.source import Source
from penstock.settings import Settings

TOY = Path(__file__).parents[1] / "toy"


@pytest.fixture
def source(broker: str, monkeypatch: pytest.MonkeyPatch) -> Source:
    """The toy domain's source under a topic of this test's own."""
    monkeypatch.syspath_prepend(TOY)
    domains.cache_clear()
    toy = domains()["toy"].sources[0]
    own = replace(toy, name=f"toy.{uuid.uuid4().hex[:8]}")
    shapes = import_module("domains.toy.shapes").SHAPES
    monkeypatch.setitem(shapes, own.name, shapes[toy.name])
    ensure(broker, [own])
    return own


@pytest.fixture
def send(broker: str, source: Source) -> Callable[..., None]:
    producer = Producer({"bootstrap.servers": broker, "acks": "all", "log_level": 0})

    def send(value: object, event_id: str | None = None, partition: int = 0) -> None:
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        headers = {"event_id": event_id} if event_id else {}
        producer.produce(source.name, text, headers=headers, partition=partition)
        producer.flush()

    return send


class Tended:
    """Streams of jobs, tended by a thread as the driver does."""

    def __init__(self, spark: SparkSession, settings: Settings, jobs: list[Job]) -> None:
        self.streams = [Stream(job, settings.kafka, settings.home, progress.Progress(job.name, "r1")) for job in jobs]
        self._spark, self._over = spark, threading.Event()
        self._thread = threading.Thread(target=self._tend)

    def __enter__(self) -> "Tended":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for stream in self.streams:
            stream.stop()

    def _tend(self) -> None:
        while not self._over.wait(0.1):
            for stream in self.streams:
                stream.tend(self._spark, time.time())


def until(true: Callable[[], bool]) -> None:
    limit = time.time() + 60
    while not true():
        assert time.time() < limit, "it never came true"
        time.sleep(0.1)


def rows(path: str, count: int) -> pa.Table:
    """The table's rows in the log's order, once there are so many."""
    until(lambda: Path(path, "_delta_log").exists() and len(DeltaTable(path).to_pyarrow_table()) >= count)
    return DeltaTable(path).to_pyarrow_table().sort_by([("partition", "ascending"), ("offset", "ascending")])


@pytest.fixture
def jobs(broker: str, settings: Settings, source: Source) -> list[Job]:
    layout = Layout(settings.lake)
    return [Archive(source, layout), Shape(source, layout, "r1")]


@pytest.fixture
def tended(spark: SparkSession, settings: Settings, broker: str, jobs: list[Job]) -> Iterator[Tended]:
    with Tended(spark, replace(settings, kafka=broker), jobs) as tended:
        yield tended


def test_each_record_is_archived_and_disposed_of_once(
    tended: Tended, jobs: list[Job], send: Callable[..., None]
) -> None:
    send({"who": "ada", "amount": 1}, "one")
    send({"who": "ada", "amount": 1}, "one")
    send({"who": "bob", "amount": 9}, "one")
    send(b"\xff\xfe not json")
    send({"amount": 3})
    send({"who": "eve", "amount": 4})
    silver = rows(jobs[1].table, 6)
    assert silver["disposition"].to_pylist() == ["fact", "duplicate", "rejected", "rejected", "rejected", "fact"]
    assert silver["reason"].to_pylist()[2:5] == ["id_collision", "malformed", "missing_who"]
    assert silver["raw"].to_pylist()[3] == b"\xff\xfe not json"
    assert rows(jobs[0].table, 6)["offset"].to_pylist() == [0, 1, 2, 3, 4, 5]


def test_a_bug_in_a_shape_stops_the_shape_and_not_the_archive(
    tended: Tended, jobs: list[Job], send: Callable[..., None], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = import_module("domains.toy.shapes").SHAPES
    good = shapes[source.name]
    monkeypatch.setitem(shapes, source.name, lambda records: good(records).where("offset <> 1"))
    for number in range(3):
        send({"who": "ada", "amount": number})
    assert rows(jobs[0].table, 3).num_rows == 3
    shape = tended.streams[1].progress
    until(lambda: shape.state == "failed")
    assert "3 records in, 2 rows out" in shape.sentence
    assert "correct it and start the driver again" in shape.todo
    assert DeltaTable(jobs[1].table).to_pyarrow_table().num_rows == 0
    monkeypatch.setitem(shapes, source.name, good)
    assert rows(jobs[1].table, 3)["offset"].to_pylist() == [0, 1, 2]
