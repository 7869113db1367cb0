"""The Avro schemas of all subjects. A compacted topic is their state; the offset of a record gives a schema's id.

What is new on the topic is read before each use, so several readers agree without talking to each other.
"""

from threading import Lock

import msgspec
from confluent_kafka import Consumer, TopicPartition

from penstock.log.topics import ensure_compacted

TOPIC = "penstock.schemas"


class Said(msgspec.Struct):
    """One record of the topic: a schema for a subject, or a level of compatibility ("" is for all subjects)."""

    subject: str
    schema: str = ""
    level: str = ""


class Schemas:
    """What the topic has said so far. Threads may share one."""

    def __init__(self, kafka: str) -> None:
        self._kafka = kafka
        self._consumer: Consumer | None = None
        self._reading = Lock()
        self._next = 0
        self.subjects: dict[str, list[str]] = {}
        self.ids: dict[str, int] = {}
        self.texts: dict[int, str] = {}
        self.levels: dict[str, str] = {}

    def refresh(self) -> None:
        """Reads what is new."""
        with self._reading:
            consumer = self._consumer = self._consumer or self._opened()
            _, end = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=10)
            if self._next < end:
                self._read(consumer, end)

    def _read(self, consumer: Consumer, end: int) -> None:
        """Has the topic no longer than it reads: a broker answers in turn, and a question behind a fetch that waits for
        more waits with it, half a second."""
        consumer.assign([TopicPartition(TOPIC, 0, self._next)])
        try:
            while self._next < end:
                for message in consumer.consume(min(1000, end - self._next), 1.0):
                    if message.error() is None:
                        self._apply(message.offset() or 0, msgspec.json.decode(message.value() or b"{}", type=Said))
        finally:
            consumer.unassign()

    def of_source(self, source: str) -> dict[int, str]:
        """By id, the schemas that producers have registered for a source's events, as stock serializers name them."""
        self.refresh()
        versions = self.subjects.get(f"{source}-value", [])
        return {number: text for number, text in self.texts.items() if text in versions}

    def _opened(self) -> Consumer:
        ensure_compacted(self._kafka, TOPIC)
        settings = {"bootstrap.servers": self._kafka, "group.id": TOPIC, "enable.auto.commit": False}
        quick = {"fetch.wait.max.ms": 10, "auto.offset.reset": "earliest", "log_level": 0}
        return Consumer({**settings, **quick})

    def _apply(self, offset: int, said: Said) -> None:
        self._next = offset + 1
        if said.level:
            self.levels[said.subject] = said.level
            return
        # Two collectors may have registered the same schema at once: both ids lead to it, the first is its own.
        self.texts[offset + 1] = said.schema
        self.ids.setdefault(said.schema, offset + 1)
        versions = self.subjects.setdefault(said.subject, [])
        if said.schema not in versions:
            versions.append(said.schema)
