"""What an event travels in: headers that say what is known of it, the key that keeps one sender's order, and a seal.

Records of sources with personal fields are sealed before anything keeps them: log, spool and lake get no plain byte.
"""

import asyncio
import re
import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from penstock import __version__
from penstock.collect.events import Event
from penstock.collect.ids import uuid7s
from penstock.collect.keeping import UNREAD, Unsafe
from penstock.collect.limits import Limits
from penstock.collect.refusal import Refused
from penstock.collect.registry.reading import Reading
from penstock.keys.sealing import AGENT, Sealer, Sealers, Whom, agent_first, nonces, whom
from penstock.log.producer import Envelope, LogDown, Record
from penstock.model.domain import source as source_of
from penstock.model.record import SUBJECTS
from penstock.model.source import Source

AVRO = b"application/avro"
# What Avro begins with, and no JSON; a request has one such event.
FRAMED = b"\0"
COLLECTOR = __version__.encode()
# What a sender may call consent: short words, nothing that a log or a terminal would obey.
CONSENT = re.compile(rb"[a-z0-9_=,-]{1,100}")
CONSENTS = {b"x-penstock-consent", b"dnt", b"sec-gpc"}
USER_AGENT_BYTES = 512


def common(source: Source, content_type: bytes, sender: Envelope, headers: Mapping[bytes, bytes]) -> Envelope:
    """The part of the envelope that a head decides. `sender` is what places.py says of the address."""
    envelope: Envelope = {
        "received_at": b"",
        "source": source.name.encode(),
        "content_type": content_type if content_type == AVRO else b"application/json",
        "collector": COLLECTOR,
        **sender,
    }
    agent = headers.get(b"user-agent")
    if agent:
        # HTTP headers are bytes of no known encoding; the envelope is UTF-8.
        text = agent[:USER_AGENT_BYTES]
        envelope["user_agent"] = text if text.isascii() else text.decode("latin-1").encode()
    consent = _consent(headers)
    if consent:
        envelope["consent"] = consent
    return envelope


def received(envelope: Envelope) -> Envelope:
    """The part of the envelope that all events of a request share, which is there now."""
    return {**envelope, "received_at": b"%d" % (time.time_ns() // 1_000_000)}


def _consent(headers: Mapping[bytes, bytes]) -> bytes:
    """Do Not Track, Global Privacy Control and what the sender states, as flags."""
    if CONSENTS.isdisjoint(headers):
        return b""
    stated = headers.get(b"x-penstock-consent", b"").lower()
    flags = [stated] if CONSENT.fullmatch(stated) else []
    flags += [b"dnt"] if headers.get(b"dnt") == b"1" else []
    flags += [b"gpc"] if headers.get(b"sec-gpc") == b"1" else []
    return b",".join(flags)


def seal(
    source: Source, events: list[Event], envelope: Envelope, limits: Limits
) -> tuple[list[Record], list[str], list[Refused]]:
    """Records with their ids, and those whose id or key cannot be used."""
    records: list[Record] = []
    ids: list[str] = []
    refused: list[Refused] = []
    topic, key_field = source.name, source.key
    # Fits, whatever its letters are.
    short = limits.key_bytes // 4
    named = [event.get("event_id") for _, _, event in events]
    given = iter(uuid7s(named.count(None)))
    for (index, value, event), event_id in zip(events, named, strict=True):
        if event_id is None:
            event_id = next(given)
        elif not _usable(event_id, limits):
            refused.append(Refused(index, "bad_event_id"))
            continue
        key = event.get(key_field)
        if key.__class__ is str and len(key) <= short:
            key = key.encode()
        elif key is not None:
            key = _key(key, limits)
            if key is None:
                refused.append(Refused(index, "bad_key"))
                continue
        records.append(Record(topic, value, key, envelope, event_id))
        ids.append(event_id)
    return records, ids, refused


def framed(source: Source, body: bytes, envelope: Envelope) -> tuple[list[Record], list[str], list[Refused]]:
    """One event of Confluent's framing (a zero byte, four of the schema's id, Avro), which is not opened here."""
    if len(body) < 6 or body[0] != 0:
        return [], [], [Refused(0, "malformed")]
    ids = uuid7s(1)
    schema = str(int.from_bytes(body[1:5], "big")).encode()
    return [Record(source.name, body, None, {**envelope, "schema_id": schema}, ids[0])], ids, []


class Sealing:
    """Subjects that are new are learnt together: many requests may wait, one transaction at a time makes their keys."""

    def __init__(self, sealers: Sealers, avro: Reading) -> None:
        self._sealers = sealers
        self.at_once = sealers.at_once
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
        named = [whom(source, event) for index, _, event in events if index not in wrong]
        if records[0].value.startswith(FRAMED):
            try:
                named = [whom(source, await self._avro.event(records[0].value))]
            except LogDown:
                records[0].shared[UNREAD] = b"1"
        # Mostly all are known, and a coroutine more is a hundredth of a request.
        return _closed(records, self._sealers.of(named) or await self._learnt(named))

    async def again(self, record: Record) -> Record:
        """What waited for its schema, sealed for whom it names; before, it was sealed as what names nobody."""
        headers = record.headers
        subjects = headers.pop(SUBJECTS) or b""
        del headers[UNREAD]
        opened = await asyncio.to_thread(self._sealers.opened, record.value, _bytes(subjects))
        if opened is None:
            return record
        value, headers[AGENT] = opened
        named = [whom(source_of(record.topic), await self._avro.event(value))]
        (sealed,) = _closed([Record(record.topic, value, None, headers)], await self._learnt(named))
        return sealed

    async def _learnt(self, named: list[Whom]) -> list[Sealer]:
        while (sealers := self._sealers.of(named)) is None:
            await self._learn(set(named).difference(self._sealers.known()))
        return sealers

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


def _closed(records: list[Record], sealers: list[Sealer]) -> list[Record]:
    """The envelope that they share loses the user agent, which is in each sealed value."""
    shared = records[0].shared
    agent = agent_first(_bytes(shared.pop(AGENT, b"")))
    for record, sealer, nonce in zip(records, sealers, nonces(len(records)), strict=True):
        record.value = sealer.seal(agent + record.value, nonce)
        record.key, record.shared, record.subjects = sealer.key, shared, sealer.subjects
    return records


def _bytes(header: str | bytes | None) -> bytes:
    return header.encode() if isinstance(header, str) else header or b""


def _usable(event_id: Any, limits: Limits) -> bool:
    return isinstance(event_id, str) and 0 < len(event_id) <= limits.id_length and event_id.isprintable()


def _key(value: Any, limits: Limits) -> bytes | None:
    if isinstance(value, str):
        key = value.encode()
    elif type(value) is int:
        key = str(value).encode()
    else:
        return None
    return key if len(key) <= limits.key_bytes else None
