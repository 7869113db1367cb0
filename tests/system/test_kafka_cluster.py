"""Three brokers, each record on all of them: the leader is killed, and nothing that was acknowledged is lost."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.log.broker import Broker
from penstock.ops.stack.trial import free_port

TOPIC = "test.cluster"
RECORDS = 20_000


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, dict[int, "subprocess.Popen[bytes]"]]]:
    """The address of three nodes, and their processes by their number."""
    ports = {node: (free_port(), free_port()) for node in (1, 2, 3)}
    voters = ",".join(f"{node}@127.0.0.1:{controller}" for node, (_, controller) in ports.items())
    processes = {}
    for node, (port, controller) in ports.items():
        broker = Broker(tmp_path / str(node), port, controller, node, voters, replication=3, quick=True)
        broker.prepare()
        processes[node] = subprocess.Popen(broker.command(), stdout=subprocess.DEVNULL)
    address = ",".join(f"127.0.0.1:{port}" for port, _ in ports.values())
    yield address, processes
    for process in processes.values():
        process.kill()
        process.wait()


def leader_of(address: str) -> int:
    """The node that leads the topic's first partition, once every partition is on all three."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    while len(admin.list_topics(timeout=60).brokers) < 3:
        time.sleep(0.2)
    admin.create_topics([NewTopic(TOPIC, 3, 3)])[TOPIC].result(60)
    while True:
        partitions = admin.list_topics(TOPIC, timeout=60).topics[TOPIC].partitions
        if [len(partition.isrs) for partition in partitions.values()] == [3, 3, 3]:
            return partitions[0].leader
        time.sleep(0.2)


def test_no_acknowledged_record_is_lost_with_the_leader(cluster) -> None:
    address, processes = cluster
    leader = leader_of(address)
    acknowledged: list[bytes] = []

    def keep(failure: object, message: Message) -> None:
        assert failure is None, failure
        acknowledged.append(message.value())

    producer = Producer({"bootstrap.servers": address, "acks": "all", "enable.idempotence": True, "log_level": 0})
    for number in range(RECORDS):
        producer.produce(TOPIC, str(number).encode(), on_delivery=keep)
        if number == RECORDS // 2:
            # Some of the first half is acknowledged, the rest is on its way; the second half finds no leader.
            while len(acknowledged) < RECORDS // 4:
                producer.poll(0.01)
            processes[leader].kill()
    assert producer.flush(120) == 0
    assert sorted(acknowledged) == sorted(str(number).encode() for number in range(RECORDS))
    assert sorted(read(address)) == sorted(acknowledged)


def read(address: str) -> list[bytes]:
    """All records of the topic, from the nodes that are left."""
    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": "test", "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.subscribe([TOPIC])
    values: list[bytes] = []
    while len(values) < RECORDS and (messages := consumer.consume(1_000, timeout=60)):
        values += [message.value() for message in messages if not message.error()]
    consumer.close()
    return values
