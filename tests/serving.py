"""A real broker for as long as a test, or a run, needs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.ops.load.mortal import MortalBroker


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Its address, once it answers."""
    broker = MortalBroker(folder)
    try:
        yield broker.ready().address
    finally:
        broker.kill()


def forget(broker: str, topic: str, before: int) -> None:
    """What retention does to a log's first partition."""
    admin = AdminClient({"bootstrap.servers": broker})
    for done in admin.delete_records([TopicPartition(topic, 0, before)]).values():
        done.result()
