"""Streams over a topic of each test's own, on the toy domain."""

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from tending import Tended

from penstock.engine.archive import Archive
from penstock.engine.shape import Shape
from penstock.engine.stream import Job
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


@pytest.fixture
def jobs(broker: str, settings: Settings, source: Source) -> list[Job]:
    layout = Layout(settings.lake)
    return [Archive(source, layout), Shape(source, layout, "r1")]


@pytest.fixture
def tended(spark: SparkSession, settings: Settings, broker: str, jobs: list[Job]) -> Iterator[Tended]:
    with Tended(spark, replace(settings, kafka=broker), jobs) as tended:
        yield tended
