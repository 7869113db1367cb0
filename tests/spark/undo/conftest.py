"""A lake of the toy domain that Spark builds, and a log on which nobody else uses `toy.events`."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from serving import serving

from penstock.lake.layout import Layout
from penstock.log.topics import ensure
from penstock.model.domain import Domain, domains
from penstock.settings import Settings

TESTS = Path(__file__).parents[2]
sys.path.insert(0, str(TESTS / "factories"))

from toy_lake import ToyLake  # noqa: E402


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Domain:
    monkeypatch.syspath_prepend(TESTS / "toy")
    domains.cache_clear()
    return domains()["toy"]


@pytest.fixture
def lake(spark: SparkSession, toy: Domain, settings: Settings) -> ToyLake:
    return ToyLake(spark, Layout(settings.lake), toy)


@pytest.fixture
def log(tmp_path: Path, toy: Domain) -> Iterator[str]:
    with serving(tmp_path / "broker") as address:
        ensure(address, toy.sources)
        yield address


@pytest.fixture
def send(log: str) -> Callable[..., None]:
    producer = Producer({"bootstrap.servers": log, "acks": "all", "log_level": 0})

    def send(event_id: str, value: str, partition: int = 0) -> None:
        producer.produce("toy.events", value.encode(), headers={"event_id": event_id}, partition=partition)
        producer.flush()

    return send
