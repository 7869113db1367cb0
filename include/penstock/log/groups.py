"""Who reads a topic, as the log knows them: consumer groups, with what they have assigned and committed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException
from confluent_kafka.admin import AdminClient

from penstock.log.topics import LogUnreachable

SECONDS = 5.0
# Ours: whatever reads for Penstock itself keeps no place in the log, and hears of corrections by the tables.
OWN = "penstock."


@dataclass(frozen=True)
class Group:
    """`members` have partitions of the topic now; none: the group has read it, and is not there."""

    name: str
    topic: str
    members: int


def groups(kafka: str, topics: Iterable[str]) -> list[Group]:
    """Every group of other people that reads one of these topics, or has read it."""
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 0})
    try:
        listed = admin.list_consumer_groups(request_timeout=SECONDS).result()
        if listed.errors:
            raise KafkaException(listed.errors[0])
        names = sorted(each.group_id for each in listed.valid if not each.group_id.startswith(OWN))
        present, committed = _present(admin, names), _committed(admin, names)
    except KafkaException as error:
        raise LogUnreachable(f"the log at {kafka} does not say who reads its topics: {error.args[0].str()}") from error
    return [
        Group(name, topic, present[name].get(topic, 0))
        for topic in topics
        for name in names
        if topic in present[name] or topic in committed[name]
    ]


def _present(admin: AdminClient, names: list[str]) -> dict[str, Mapping[str, int]]:
    """Group -> topic -> how many of its members have partitions of it."""
    told: dict[str, Mapping[str, int]] = {}
    for name, asked in admin.describe_consumer_groups(names, request_timeout=SECONDS).items() if names else ():
        counted: dict[str, int] = {}
        for member in asked.result().members:
            for topic in {part.topic for part in member.assignment.topic_partitions}:
                counted[topic] = counted.get(topic, 0) + 1
        told[name] = counted
    return told


def _committed(admin: AdminClient, names: list[str]) -> dict[str, set[str]]:
    """Group -> topics in which it has kept its place. The broker is asked about one group at a time."""
    told: dict[str, set[str]] = {}
    for name in names:
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)], request_timeout=SECONDS)
        kept = asked[name].result().topic_partitions
        told[name] = {part.topic for part in kept if part.offset >= 0}
    return told
