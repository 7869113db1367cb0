"""Urgent rules: told from the log, before any epoch has the fact."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from unit.serve.test_rules import Told

from domains.web.model import EVENTS
from domains.web.rules import CROWD, PROBED, SLOW
from penstock.engine.herald import Herald, urgent
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.log.alerts import Once
from penstock.log.topics import ensure
from penstock.model.domain import domains
from penstock.model.rule import Rule
from penstock.settings import Settings

VIEWED = {"type": "pageview", "site": "a.example", "visitor": "v1", "url": "https://a.example/x"}
PATIENCE = 20.0
Send = Callable[..., None]


@pytest.fixture
def place(settings: Settings, broker: str) -> Settings:
    ensure(broker, [EVENTS])
    return replace(settings, kafka=broker)


@pytest.fixture
def send(place: Settings) -> Send:
    """Logs page views that took so long to load, or bytes, as one event if they have one id."""
    producer = Producer({"bootstrap.servers": place.kafka})

    def sent(*values: int | bytes, event_id: str | None = None) -> None:
        headers = [("event_id", event_id.encode())] if event_id else []
        for value in values:
            body = value if isinstance(value, bytes) else json.dumps({**VIEWED, "load_ms": value}).encode()
            producer.produce(EVENTS.name, body, key="v1", headers=headers)
        producer.flush()

    return sent


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture(autouse=True)
def slow_is_urgent(monkeypatch: pytest.MonkeyPatch) -> Rule:
    rule = replace(SLOW, urgent=True)
    monkeypatch.setitem(domains(), "web", replace(domains()["web"], rules=(rule, PROBED, CROWD)))
    return rule


@pytest.fixture
def herald(place: Settings, told: Told, spark: SparkSession) -> Iterator[Herald]:
    """At the end of the log: what comes now is what it hears."""
    one = Herald(place, [EVENTS], Once(told.tell).tell, "r1")
    one.look()
    yield one
    one.stop()


def heard(herald: Herald, told: Told, many: int) -> list[int]:
    """Looks until so many alerts are told, and once more; how long each page took."""
    until = time.monotonic() + PATIENCE
    while len(told) < many and time.monotonic() < until:
        herald.look()
    herald.look()
    return [json.loads(alert["fact"])["load_ms"] for alert in told]


def test_a_fact_is_told_while_there_is_no_silver(herald: Herald, told: Told, send: Send, place: Settings) -> None:
    send(12_000, event_id="e1")
    assert heard(herald, told, 1) == [12_000]
    assert (told[0]["rule"], told[0]["event_id"]) == ("web.slow_page", "e1")
    assert open_table(Layout(place.lake).silver("r1", EVENTS.name)) is None


def test_what_is_no_fact_or_does_not_match_is_not_told(herald: Herald, told: Told, send: Send) -> None:
    send(b"\xff", b"", b"\0\0\0\0\1avro", b'{"type": "pageview", "load_ms": 99999}', 10)
    send(20_000)
    assert heard(herald, told, 1) == [20_000]


def test_one_event_is_told_once_however_often_it_is_sent(herald: Herald, told: Told, send: Send) -> None:
    send(13_000, 13_000, event_id="e2")
    assert heard(herald, told, 1) == [13_000]
    send(13_000, event_id="e2")
    send(14_000, event_id="e3")
    assert heard(herald, told, 2) == [13_000, 14_000]


def test_a_release_that_is_not_current_tells_nothing(
    place: Settings, told: Told, send: Send, spark: SparkSession
) -> None:
    other = Herald(place, [EVENTS], told.tell, "r2")
    other.look()
    send(12_000)
    until = time.monotonic() + 2
    while time.monotonic() < until:
        other.look()
    other.stop()
    assert not told


def test_only_armed_rules_of_shapes_that_need_no_spark_are_urgent(
    slow_is_urgent: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert urgent(EVENTS) == [slow_is_urgent]
    monkeypatch.setattr("penstock.engine.herald.shape_of", lambda source: lambda records: records)
    assert urgent(EVENTS) == []
