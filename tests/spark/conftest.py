"""Streams over a topic of each test's own, on the toy domain."""

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from tending import Tended
from toy_lake import ToyLake

from penstock.engine.archive import Archive
from penstock.engine.shape import Shape
from penstock.engine.stream import Job
from penstock.lake.layout import Layout
from penstock.log.topics import ensure
from penstock.model.domain import Domain
from penstock.model.source import Source
from penstock.settings import Settings


@pytest.fixture
def source(broker: str, toy: Domain, monkeypatch: pytest.MonkeyPatch) -> Source:
    """The toy domain's source under a topic of this test's own."""
    common = toy.sources[0]
    own = replace(common, name=f"toy.{uuid.uuid4().hex[:8]}")
    shapes = import_module("domains.toy.shapes").SHAPES
    monkeypatch.setitem(shapes, own.name, shapes[common.name])
    ensure(broker, [own])
    return own


@pytest.fixture
def lake(spark: SparkSession, toy: Domain, settings: Settings) -> ToyLake:
    """A lake of the toy domain whose epochs the test writes, and Spark builds."""
    return ToyLake(spark, Layout(settings.lake), toy)


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
