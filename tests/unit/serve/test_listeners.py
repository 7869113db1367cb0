"""Whom a change of facts reaches: who subscribes to its views, and which consumer groups read its topics."""

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest
from confluent_kafka import Consumer
from starlette.testclient import TestClient
from toy_lake import ToyLake, fact
from typer.testing import CliRunner
from unit.serve.test_live import TALLY, opened
from websockets.sync.client import connect

from penstock.log.alerts import TOPIC, Alerts
from penstock.log.groups import Group, groups
from penstock.log.topics import LogUnreachable
from penstock.ops.airflow import retractions
from penstock.ops.cli import application
from penstock.ops.listeners import listeners
from penstock.settings import Settings

pytestmark = pytest.mark.timeout(120)


def test_who_subscribes_to_what_is_told_by_view_and_rule(client: TestClient) -> None:
    assert client.get("/api/subscribers").json() == {"subscribers": []}
    with ExitStack() as stack:
        for address, times in ((TALLY, 2), (f"{TALLY}&limit=5", 1), ("/api/live?rule=toy.large", 1)):
            [socket.receive_json() for socket in opened(stack, client, address, times)]
        told = client.get("/api/subscribers").json()["subscribers"]
    who = {"who": "this machine"}
    assert told == [
        {"about": "toy.events_by_what", **who, "subscribers": 3},
        {"about": "toy.large", **who, "subscribers": 1},
    ]


@pytest.fixture
def told(broker: str) -> str:
    """A broker whose topic of alerts has some."""
    Alerts(broker).tell([{"id": str(number)} for number in range(20)])
    return broker


@contextmanager
def desk(broker: str, members: int) -> Iterator[str]:
    """Programs of somebody else who read alerts together; each keeps its place."""
    name = f"desk-{uuid.uuid4().hex[:8]}"
    client = {"bootstrap.servers": broker, "group.id": name, "auto.offset.reset": "earliest"}
    consumers = [Consumer({**client, "session.timeout.ms": 6000}) for _ in range(members)]
    over, heard = threading.Event(), threading.Event()

    def read(consumer: Consumer) -> None:
        consumer.subscribe([TOPIC])
        while not over.is_set():
            if consumer.poll(0.1):
                heard.set()
        consumer.close()

    reading = [threading.Thread(target=read, args=(each,)) for each in consumers]
    for each in reading:
        each.start()
    try:
        assert heard.wait(60)
        while of(broker, name) != [Group(name, TOPIC, members)]:
            over.wait(0.2)
        yield name
    finally:
        over.set()
        for each in reading:
            each.join()


def of(broker: str, name: str) -> list[Group]:
    return [group for group in groups(broker, [TOPIC, "toy.events"]) if group.name == name]


def test_groups_that_read_a_topic_are_told_with_their_members_and_afterwards_without(told: str) -> None:
    with desk(told, 2) as name:
        pass
    assert of(told, name) == [Group(name, TOPIC, 0)]


def test_a_log_that_does_not_answer_says_so_in_time(settings: Settings) -> None:
    with pytest.raises(LogUnreachable, match=settings.kafka):
        groups(settings.kafka, [TOPIC])


def test_a_plan_names_who_subscribes_and_who_reads_the_topics(
    lake: ToyLake, settings: Settings, told: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.epoch([fact("ann"), fact("bob")])
    here = replace(settings, kafka=told, serve_port=port)
    for name, value in here.to_env().items():
        monkeypatch.setenv(name, value)
    address = f"ws://127.0.0.1:{port}{TALLY}"
    with desk(told, 1) as name, connect(address) as one, connect(address) as other:
        one.recv(), other.recv()
        plan = retractions.plan("toy.events", "who = 'ann'", "", "", "")
        words = ["retract", "--source", "toy.events", "--where", "who = 'ann'", "--why", "x" * 3, "--dry-run", "--json"]
        dry = json.loads(CliRunner().invoke(application(), words).stdout)["plan"]
    assert plan.startswith("1 of 2 facts") and dry == plan
    assert "as they are published: toy.events_by_what (this machine: 2)." in plan
    assert f"group {name} of {TOPIC} (1 there now)" in plan


def test_whoever_cannot_be_asked_is_named_and_holds_no_plan_up(settings: Settings, lake: ToyLake) -> None:
    said = listeners(settings, "toy.events")
    assert f"its views now is not known: nothing answers at {settings.serve_at}" in said
    assert f"topics toy.events and {TOPIC} is not known: the log at {settings.kafka} does not" in said
