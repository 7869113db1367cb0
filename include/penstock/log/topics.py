"""Topics: every declared source has one, made before anything is written to it, and never by a misspelling."""

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from penstock.model.source import Source

# Time of arrival is the broker's, so that an hour is a range of offsets in each partition.
CONFIG = {"message.timestamp.type": "LogAppendTime"}


class LogUnreachable(ConnectionError):
    """No broker answers; the message names the address and the setting."""


def ensure(kafka: str, sources: Iterable[Source], timeout: float = 30) -> list[str]:
    """Creates the topics that are missing and returns their names. Two callers at once are fine."""
    return _ensure(kafka, {source.name: source.partitions for source in sources}, CONFIG, timeout)


def ensure_named(kafka: str, name: str, partitions: int, timeout: float = 30) -> list[str]:
    """A topic that no source has: what Penstock itself tells."""
    return _ensure(kafka, {name: partitions}, CONFIG, timeout)


def ensure_compacted(kafka: str, name: str, timeout: float = 10) -> list[str]:
    """A control topic of one partition, in which the last record of each key is kept for ever."""
    return _ensure(kafka, {name: 1}, {"cleanup.policy": "compact"}, timeout)


def _ensure(kafka: str, partitions: Mapping[str, int], config: dict[str, str], timeout: float) -> list[str]:
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 0})
    try:
        cluster = admin.list_topics(timeout=timeout)
    except KafkaException as error:
        raise LogUnreachable(f"no Kafka broker answers at {kafka}: start it, or set PENSTOCK_KAFKA.") from error
    # As many copies as a cluster can bear, up to the customary three.
    copies = min(3, len(cluster.brokers))
    missing = [
        NewTopic(name, count, copies, config=config) for name, count in partitions.items() if name not in cluster.topics
    ]
    made = [name for name, made in admin.create_topics(missing).items() if _created(made)] if missing else []
    _led(admin, [topic.topic for topic in missing], time.time() + timeout)
    return made


def _led(admin: AdminClient, names: Iterable[str], limit: float) -> None:
    """Waits until new topics can be read and written: a broker knows of a topic before it leads its partitions."""
    for name in names:
        while time.time() < limit:
            topic = admin.list_topics(name, timeout=10).topics[name]
            if topic.error is None and topic.partitions and all(part.leader >= 0 for part in topic.partitions.values()):
                break
            time.sleep(0.02)


def _created(made: "Future[None]") -> bool:
    try:
        made.result()
    except KafkaException as error:
        if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        raise
    return True
