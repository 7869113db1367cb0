"""Epochs that are large enough for a task that reads the log by itself: the same rows, and no other way to lose one."""

import json
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from tending import Tended, rows, until

from domains.web.model import EVENTS
from penstock.engine import shape, stream
from penstock.engine.archive import Archive
from penstock.engine.balance import Unbalanced
from penstock.engine.shape import Shape
from penstock.engine.stream import Job
from penstock.lake.layout import Layout
from penstock.log import reading
from penstock.log.topics import ensure
from penstock.model.source import Source
from penstock.settings import Settings

VIEWED = {"type": "pageview", "site": "a.example", "visitor": "v1", "url": "https://a.example/x"}
VALUES = [json.dumps(VIEWED).encode(), None, b"", b"\xff", b'{"nope', json.dumps(VIEWED | {"site": 1}).encode()]
RECORDS = 24
Reader = Callable[[str, str, Any], Iterator[pa.RecordBatch]]


@pytest.fixture
def views(broker: str, monkeypatch: pytest.MonkeyPatch) -> Source:
    """The web's source under a topic of this test's own, with records of every kind, each in a transaction.

    Half of all offsets end within the first partition, and one fact comes again behind them.
    """
    own = replace(EVENTS, name=f"web.{uuid.uuid4().hex[:8]}", partitions=2)
    shapes = import_module("domains.web.shapes").SHAPES
    monkeypatch.setitem(shapes, own.name, shapes[EVENTS.name])
    ensure(broker, [own])
    producer = Producer({"bootstrap.servers": broker, "transactional.id": own.name, "log_level": 0})
    producer.init_transactions()
    for number in range(RECORDS):
        producer.begin_transaction()
        headers = {"event_id": str(number % 12), "received_at": None} if number % 4 else None
        key = f"v{number}" if number % 2 else None
        producer.produce(own.name, VALUES[number % len(VALUES)], key=key, headers=headers, partition=int(number >= 15))
        producer.commit_transaction()
    return own


@pytest.fixture
def streamed(spark: SparkSession, settings: Settings, broker: str, views: Source) -> Callable[[str], list[pa.Table]]:
    """What a lake of its own has of the records, in bronze and in silver, and what its streams said of it."""

    def streamed(lake: str) -> list[pa.Table]:
        layout = Layout(f"{settings.lake}/{lake}")
        jobs: list[Job] = [Archive(views, layout), Shape(views, layout, "r1")]
        home = settings.home / lake
        with Tended(spark, replace(settings, kafka=broker, home=home), jobs):
            return [rows(job.place.table, RECORDS).drop_columns("epoch") for job in jobs]

    return streamed


def test_a_task_that_reads_the_log_by_itself_gives_the_rows_of_sparks_reader(
    streamed: Callable[[str], list[pa.Table]], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_spark = streamed("spark")
    monkeypatch.setattr(stream, "APART", 1)
    # A driver that asked Spark's reader as well would have the right rows too.
    monkeypatch.setattr(Archive, "plan", lambda _, records: records.where("raise_error('read by Spark') is null"))
    monkeypatch.setattr(Shape, "plan", lambda _, records: records.where("raise_error('read by Spark') is null"))
    by_tasks = streamed("tasks")
    assert [table.num_rows for table in by_tasks] == [RECORDS, RECORDS]
    assert [one.equals(other) for one, other in zip(by_spark, by_tasks, strict=True)] == [True, True]
    silver = by_tasks[1]
    again = silver.filter(pc.equal(silver["disposition"], "duplicate"))
    assert again.select(["event_id", "partition"]).to_pylist() == [{"event_id": "6", "partition": 1}]


def failing(*_: object) -> Iterator[pa.RecordBatch]:
    raise ValueError("a record that nobody can read")


def losing(good: Reader, *asked: Any) -> Iterator[pa.RecordBatch]:
    yield from (batch.slice(1) for batch in good(*asked))


def dying(*_: object) -> Iterator[pa.RecordBatch]:
    os.kill(os.getpid(), signal.SIGKILL)
    yield from ()


@pytest.mark.parametrize("reader", [failing, partial(losing, reading.read), dying], ids=["fails", "loses", "dies"])
def test_what_a_task_cannot_bring_is_brought_by_sparks_reader(
    reader: Reader, tended: Tended, jobs: list[Job], send: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "APART", 1)
    monkeypatch.setattr(reading, "read", reader)
    archive = tended.streams[0].progress
    send({"who": "ada", "amount": 1})
    until(lambda: archive.state == "failed")
    assert rows(jobs[0].place.table, 1)["offset"].to_pylist() == [0]


def test_no_epoch_goes_before_one_that_failed_when_spark_had_called_it_done(
    spark: SparkSession,
    broker: str,
    settings: Settings,
    jobs: list[Job],
    send: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good, failed = shape.balanced, []

    def balanced(judged: pa.Table, *told: Any) -> Any:
        if judged["epoch"][0].as_py() == 1 and not failed:
            failed.append("once")
            raise Unbalanced("planted")
        return good(judged, *told)

    monkeypatch.setattr(stream, "APART", 1)
    monkeypatch.setattr(shape, "FULL", 1)
    monkeypatch.setattr(shape, "balanced", balanced)
    for number in range(4):
        send({"who": "ada", "amount": number})
    with Tended(spark, replace(settings, kafka=broker), jobs):
        silver = rows(jobs[1].place.table, 4)
    assert failed == ["once"]
    assert (silver["offset"].to_pylist(), silver["epoch"].to_pylist()) == ([0, 1, 2, 3], [0, 1, 2, 3])
