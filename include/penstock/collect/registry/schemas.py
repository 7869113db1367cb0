"""Registers Avro schemas, where they are compatible with the versions before them."""

import asyncio
import uuid
from dataclasses import dataclass

import avro.schema
import msgspec
from avro.errors import AvroException

from penstock.collect.registry.compatible import LEVELS, misfits, of_avro
from penstock.log.producer import Log, Record
from penstock.log.schemas import TOPIC, Said, Schemas

DEFAULT = "BACKWARD"
# Seconds. An event that waits longer than a moment goes into the spool; a schema has none.
PATIENCE = 15.0


@dataclass
class RegistryError(Exception):
    """An answer of Confluent's protocol that is not what was asked for."""

    status: int
    code: int
    message: str


class Registry:
    def __init__(self, kafka: str) -> None:
        self._kafka = kafka
        self._log: Log | None = None
        self.known = Schemas(kafka)

    async def refresh(self) -> None:
        """Reads what is new."""
        await asyncio.to_thread(self.known.refresh)

    async def register(self, subject: str, text: str) -> int:
        """The id of a schema, which from now on is a version of the subject."""
        schema = canonical(text)
        await self.refresh()
        if schema not in self.known.subjects.get(subject, ()):
            if not self.compatible(subject, schema):
                raise RegistryError(409, 409, f"The schema is not {self.level(subject)} compatible with {subject}.")
            await self._say(Said(subject, schema))
        return self.known.ids[schema]

    async def set_level(self, subject: str, level: str) -> None:
        if level not in LEVELS:
            raise RegistryError(422, 42203, f"Compatibility is one of {', '.join(sorted(LEVELS))}.")
        await self._say(Said(subject, level=level))

    def level(self, subject: str) -> str:
        return self.known.levels.get(subject, self.known.levels.get("", DEFAULT))

    def compatible(self, subject: str, text: str, version: int | None = None) -> bool:
        """With one version, or with those that the subject's level asks for."""
        level, versions = self.level(subject), self.known.subjects.get(subject, [])
        if version is not None:
            versions = [versions[version - 1]]
        elif not level.endswith("_TRANSITIVE"):
            versions = versions[-1:]
        new = avro.schema.parse(canonical(text))
        return not any(misfits(level, new, avro.schema.parse(old), of_avro) for old in versions)

    async def _say(self, said: Said) -> None:
        if self._log is None:
            self._log = Log(self._kafka, PATIENCE)
        # A key of its own: compaction must never take a schema away. A level replaces the one before.
        key = f"level {said.subject}" if said.level else str(uuid.uuid4())
        await self._log.append([Record(TOPIC, msgspec.json.encode(said), key.encode(), {})])
        await self.refresh()


def canonical(text: str) -> str:
    try:
        return str(avro.schema.parse(text))
    except (AvroException, ValueError) as error:
        raise RegistryError(422, 42201, f"The schema is not valid Avro: {error}") from error
