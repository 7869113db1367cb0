"""Subjects, versions, ids and compatibility of Avro schemas. The topic is the state; the offset gives the id.

Before each answer what is new on the topic is read, so several collectors agree without talking to each other.
"""

import asyncio
import uuid
from dataclasses import dataclass

import avro.schema
import msgspec
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.errors import AvroException
from confluent_kafka import Consumer, TopicPartition

from penstock.log.producer import Log, Record
from penstock.log.topics import ensure_compacted

TOPIC = "penstock.schemas"
DEFAULT = "BACKWARD"
LEVELS = {each + more for each in ("BACKWARD", "FORWARD", "FULL") for more in ("", "_TRANSITIVE")} | {"NONE"}


@dataclass
class RegistryError(Exception):
    """An answer of Confluent's protocol that is not what was asked for."""

    status: int
    code: int
    message: str


class Said(msgspec.Struct):
    """One record of the topic: a schema for a subject, or a level of compatibility ("" is for all subjects)."""

    subject: str
    schema: str = ""
    level: str = ""


class Registry:
    def __init__(self, kafka: str) -> None:
        self._kafka = kafka
        self._log: Log | None = None
        self._consumer: Consumer | None = None
        self._reading = asyncio.Lock()
        self._next = 0
        self.subjects: dict[str, list[str]] = {}
        self.ids: dict[str, int] = {}
        self.schemas: dict[int, str] = {}
        self.levels: dict[str, str] = {}

    async def refresh(self) -> None:
        """Reads what is new."""
        async with self._reading:
            await asyncio.to_thread(self._read)

    def _read(self) -> None:
        if self._consumer is None:
            ensure_compacted(self._kafka, TOPIC)
            settings = {"bootstrap.servers": self._kafka, "group.id": TOPIC, "enable.auto.commit": False}
            self._consumer = Consumer({**settings, "auto.offset.reset": "earliest", "log_level": 0})
            self._consumer.assign([TopicPartition(TOPIC, 0, 0)])
        _, end = self._consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=10)
        while self._next < end:
            for message in self._consumer.consume(1000, 1.0):
                if message.error() is None:
                    self._apply(message.offset() or 0, msgspec.json.decode(message.value() or b"{}", type=Said))

    def _apply(self, offset: int, said: Said) -> None:
        self._next = offset + 1
        if said.level:
            self.levels[said.subject] = said.level
            return
        # Two collectors may have registered the same schema at once: both ids lead to it, the first is its own.
        self.schemas[offset + 1] = said.schema
        self.ids.setdefault(said.schema, offset + 1)
        versions = self.subjects.setdefault(said.subject, [])
        if said.schema not in versions:
            versions.append(said.schema)

    async def register(self, subject: str, text: str) -> int:
        """The id of a schema, which from now on is a version of the subject."""
        schema = canonical(text)
        await self.refresh()
        if schema not in self.subjects.get(subject, ()):
            if not self.compatible(subject, schema):
                raise RegistryError(409, 409, f"The schema is not {self.level(subject)} compatible with {subject}.")
            await self._say(Said(subject, schema))
        return self.ids[schema]

    async def set_level(self, subject: str, level: str) -> None:
        if level not in LEVELS:
            raise RegistryError(422, 42203, f"Compatibility is one of {', '.join(sorted(LEVELS))}.")
        await self._say(Said(subject, level=level))

    def level(self, subject: str) -> str:
        return self.levels.get(subject, self.levels.get("", DEFAULT))

    def compatible(self, subject: str, text: str, version: int | None = None) -> bool:
        """With one version, or with those that the subject's level asks for."""
        level, versions = self.level(subject), self.subjects.get(subject, [])
        if version is not None:
            versions = [versions[version - 1]]
        elif not level.endswith("_TRANSITIVE"):
            versions = versions[-1:]
        new = avro.schema.parse(canonical(text))
        return all(_fits(level, new, avro.schema.parse(old)) for old in versions)

    async def _say(self, said: Said) -> None:
        if self._log is None:
            self._log = Log(self._kafka)
        # A key of its own: compaction must never take a schema away. A level replaces the one before.
        key = f"level {said.subject}" if said.level else str(uuid.uuid4())
        await self._log.append([Record(TOPIC, msgspec.json.encode(said), key.encode(), {})])
        await self.refresh()


def canonical(text: str) -> str:
    try:
        return str(avro.schema.parse(text))
    except (AvroException, ValueError) as error:
        raise RegistryError(422, 42201, f"The schema is not valid Avro: {error}") from error


def _fits(level: str, new: avro.schema.Schema, old: avro.schema.Schema) -> bool:
    wanted = level.removesuffix("_TRANSITIVE")
    reads_old = wanted not in ("BACKWARD", "FULL") or _reads(new, old)
    return reads_old and (wanted not in ("FORWARD", "FULL") or _reads(old, new))


def _reads(reader: avro.schema.Schema, writer: avro.schema.Schema) -> bool:
    verdict = ReaderWriterCompatibilityChecker().get_compatibility(reader, writer)  # type: ignore[no-untyped-call]
    return bool(verdict.compatibility == SchemaCompatibilityType.compatible)
