"""Topics: every declared source has one, made before anything is written to it, and never by a misspelling."""

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.admin._metadata import ClusterMetadata
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
    fresh = [name for name in partitions if not _is_led(cluster, name)]
    _led(admin, [TopicPartition(name, part) for name in fresh for part in range(partitions[name])], timeout)
    return made


def _is_led(cluster: ClusterMetadata, name: str) -> bool:
    """Whether it was there already: one that somebody else has just made may have no leader yet."""
    there = cluster.topics[name].partitions if name in cluster.topics else {}
    return bool(there) and all(part.leader >= 0 for part in there.values())


def _led(admin: AdminClient, parts: Sequence[TopicPartition], timeout: float) -> None:
    """Waits until new topics can be read and written: a broker names itself their leader before it is."""
    limit, left = time.time() + timeout, list(parts)
    latest: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    while left and time.time() < limit:
        asked = admin.list_offsets(dict.fromkeys(left, latest), request_timeout=10)
        left = [part for part, told in asked.items() if told.exception()]
        time.sleep(0.02 if left else 0)


def _created(made: "Future[None]") -> bool:
    try:
        made.result()
    except KafkaException as error:
        if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        raise
    return True
