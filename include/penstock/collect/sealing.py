"""Seals the records of sources with personal fields before anything keeps them: log, spool and lake get no plain byte.

Subjects that are new are learnt together: however many requests wait, one transaction at a time makes their keys.
"""

import asyncio
import sqlite3
from collections.abc import Collection, Iterable
from typing import Any

from confluent_kafka import KafkaException

from penstock.collect.events import Event
from penstock.collect.keeping import Unsafe
from penstock.collect.refusal import Refused
from penstock.collect.registry.reading import Reading
from penstock.keys.sealing import AGENT, SUBJECTS, Sealer, Sealers, Whom, agent_first, nonces, whom
from penstock.log.producer import Record
from penstock.model.source import Source

# What Avro begins with, and no JSON; a request has one such event.
FRAMED = b"\0"


class Sealing:
    def __init__(self, sealers: Sealers, avro: Reading) -> None:
        self._sealers = sealers
        self._avro = avro
        self._asked: set[Whom] = set()
        self._round: asyncio.Task[None] | None = None

    async def sealed(
        self, source: Source, records: list[Record], events: Iterable[Event], misfits: Collection[Refused] = ()
    ) -> list[Record]:
        """The records of a request, which are those of its events that fit, in their order."""
        if not source.subjects:
            return records
        wrong = {one.index for one in misfits}
        told = [event for index, _, event in events if index not in wrong]
        if records[0].value.startswith(FRAMED):
            told = [await self._told(records[0].value)]
        named = [whom(source, event) for event in told]
        known = self._sealers.known()
        while missing := {each for each in named if each not in known}:
            await self._learn(missing)
            known = self._sealers.known()
        agent = agent_first(_bytes(records[0].headers.get(AGENT)))
        return [
            _sealed(record, known[each], agent, nonce)
            for record, each, nonce in zip(records, named, nonces(len(named)), strict=True)
        ]

    async def _told(self, framed: bytes) -> dict[str, Any]:
        try:
            return await self._avro.event(framed)
        except (ConnectionError, KafkaException) as error:
            raise Unsafe(f"the log is down, and nobody else knows whom this Avro names: {error}") from error

    async def _learn(self, missing: set[Whom]) -> None:
        self._asked |= missing
        if self._round is None:
            self._round = asyncio.create_task(self._ask())
        try:
            await asyncio.shield(self._round)
        except (OSError, sqlite3.Error) as error:
            raise Unsafe(f"the keys of subjects cannot be kept: {error}") from error

    async def _ask(self) -> None:
        asked, self._asked = self._asked, set()
        try:
            await asyncio.to_thread(self._sealers.learn, asked)
        finally:
            self._round = None


def _sealed(record: Record, sealer: Sealer, agent: bytes, nonce: bytes) -> Record:
    """The envelope is the record's own: it loses the user agent, which is in the sealed value."""
    topic, value, _, headers = record
    headers.pop(AGENT, None)
    headers[SUBJECTS] = sealer.subjects
    return Record(topic, sealer.seal(agent + value, nonce), sealer.key, headers)


def _bytes(header: str | bytes | None) -> bytes:
    return header.encode() if isinstance(header, str) else header or b""
