"""What the collector says of an event, beside the event: Kafka headers, and the key that keeps one sender's order."""

import re
import time
from collections.abc import Mapping
from typing import Any

from penstock import __version__
from penstock.collect.events import Event
from penstock.collect.ids import uuid7s
from penstock.collect.limits import Limits
from penstock.collect.refusal import Refused
from penstock.log.producer import Envelope, Record
from penstock.model.source import Source

AVRO = b"application/avro"
COLLECTOR = __version__.encode()
# What a sender may call consent: short words, nothing that a log or a terminal would obey.
CONSENT = re.compile(rb"[a-z0-9_=,-]{1,100}")
USER_AGENT_BYTES = 512


def common(source: Source, content_type: bytes, sender: Envelope, headers: Mapping[bytes, bytes]) -> Envelope:
    """The part of the envelope that all events of a request share. `sender` is what places.py says of the address."""
    envelope: Envelope = {
        "event_id": b"",
        "received_at": str(time.time_ns() // 1_000_000).encode(),
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


def _consent(headers: Mapping[bytes, bytes]) -> bytes:
    """Do Not Track, Global Privacy Control and what the sender states, as flags."""
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
    given = iter(uuid7s(sum(event.get("event_id") is None for _, _, event in events)))
    for index, value, event in events:
        event_id = event.get("event_id")
        if event_id is None:
            event_id = next(given)
        elif not _usable(event_id, limits):
            refused.append(Refused(index, "bad_event_id"))
            continue
        key = event.get(key_field)
        if key is not None:
            key = _key(key, limits)
            if key is None:
                refused.append(Refused(index, "bad_key"))
                continue
        records.append(Record(topic, value, key, {**envelope, "event_id": event_id.encode()}))
        ids.append(event_id)
    return records, ids, refused


def framed(source: Source, body: bytes, envelope: Envelope) -> tuple[list[Record], list[str], list[Refused]]:
    """One event of Confluent's framing (a zero byte, four of the schema's id, Avro), which is not opened here."""
    if len(body) < 6 or body[0] != 0:
        return [], [], [Refused(0, "malformed")]
    ids = uuid7s(1)
    schema = str(int.from_bytes(body[1:5], "big")).encode()
    headers = {**envelope, "event_id": ids[0].encode(), "schema_id": schema}
    return [Record(source.name, body, None, headers)], ids, []


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
