"""How records lie in a spool segment: length, checksum, record; again and again. Only whole frames are believed."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from struct import Struct

import msgspec

from penstock.log.producer import Record

HEAD = Struct("<II")


class Damaged(ValueError):
    """A frame before the end of a segment does not match its checksum."""


def packed(record: Record) -> bytes:
    body = msgspec.msgpack.encode((record.topic, record.value, record.key, record.headers))
    return HEAD.pack(len(body), zlib.crc32(body)) + body


def records(segment: Path) -> Iterator[Record]:
    """The records of a segment. A frame cut short at its end was never acknowledged: it ends the segment."""
    data = segment.read_bytes()
    at = 0
    while at + HEAD.size <= len(data):
        size, checksum = HEAD.unpack_from(data, at)
        body = data[at + HEAD.size : at + HEAD.size + size]
        if len(body) < size:
            return
        if zlib.crc32(body) != checksum:
            raise Damaged(f"{segment.name} at byte {at} of {len(data)}")
        topic, value, key, headers = msgspec.msgpack.decode(
            body, type=tuple[str, bytes, bytes | None, dict[str, bytes]]
        )
        yield Record(topic, value, key, dict(headers))
        at += HEAD.size + size
