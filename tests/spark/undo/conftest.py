"""A lake of the toy domain that Spark builds, and a log on which nobody else uses `toy.events`."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from serving import serving

from penstock.log.topics import ensure
from penstock.model.domain import Domain


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
