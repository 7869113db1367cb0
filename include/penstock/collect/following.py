"""Follows a source on the log: from now, from its beginning or from a position, never faster than it is read.

The log itself is the buffer. A follower takes the next records only when it has sent the last ones.
"""

import asyncio
import base64
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, Message, TopicPartition

from penstock.collect.refusal import Refusal
from penstock.keys.sealing import Opener
from penstock.keys.store import Keys
from penstock.model.record import SUBJECTS

TAKE = 500
POLL = 0.5


class Follower:
    """One reader of one source. `offsets` is where it would go on."""

    def __init__(self, kafka: str, keys: Keys, source: str, start: str, threads: ThreadPoolExecutor) -> None:
        self.source = source
        self._keys = keys
        self._threads = threads
        self._consumer = Consumer(
            {
                "bootstrap.servers": kafka,
                "group.id": "penstock.followers",
                "enable.auto.commit": False,
                # Who asks for what retention has deleted goes on with the oldest, and is told what he missed.
                "auto.offset.reset": "earliest",
                # What is fetched ahead is memory; by default 64 MiB for each partition.
                "queued.max.messages.kbytes": 1024,
                "queued.min.messages": TAKE,
                "fetch.message.max.bytes": 256 * 1024,
                "log_level": 0,
            }
        )
        self._start = start
        self.offsets: dict[int, int] = {}

    async def open(self) -> None:
        await self._run(self._assign)

    async def take(self) -> list[tuple[bytes, str]]:
        """The next records as JSON documents, each with the place to go on from after it."""
        messages = await self._run(self._consumer.consume, TAKE, POLL)
        taken = [message for message in messages if not self._failed(message)]
        # Asked anew each time: what was erased is not shown from memory.
        opener = await self._run(Opener, self._keys, {_header(message, SUBJECTS) for message in taken})
        return [(self._document(message, opener), self.cursor()) for message in taken]

    async def behind(self) -> int:
        """How many records the log has that this follower has not taken."""
        return int(await self._run(self._behind))

    async def close(self) -> None:
        await self._run(self._consumer.close)

    async def _run(self, function: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def _assign(self) -> None:
        known = self._consumer.list_topics(self.source, timeout=10).topics[self.source].partitions
        starts = positions(self._start, known)
        for partition, start in starts.items():
            low, high = self._consumer.get_watermark_offsets(TopicPartition(self.source, partition), timeout=10)
            self.offsets[partition] = {OFFSET_END: high, OFFSET_BEGINNING: low}.get(start, start)
        self._consumer.assign(
            [TopicPartition(self.source, partition, offset) for partition, offset in self.offsets.items()]
        )

    def _behind(self) -> int:
        total = 0
        for partition, offset in self.offsets.items():
            _, high = self._consumer.get_watermark_offsets(TopicPartition(self.source, partition), cached=True)
            total += max(0, high - offset)
        return total

    def _failed(self, message: Message) -> bool:
        error = message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise ConnectionError(error.str())
        return error is not None

    def _document(self, message: Message, opener: Opener) -> bytes:
        partition, offset = message.partition() or 0, message.offset() or 0
        skipped = offset - self.offsets[partition]
        self.offsets[partition] = offset + 1
        document: dict[str, Any] = {"partition": partition, "offset": offset, "logged_at": message.timestamp()[1]}
        if skipped > 0:
            document["skipped"] = skipped
        envelope = dict(message.headers() or ())
        for name in ("event_id", "received_at", "content_type"):
            told = envelope.get(name)
            if isinstance(told, bytes):
                document[name] = told.decode(errors="replace")
        value, _ = opener.opened(message.value() or b"", _header(message, SUBJECTS)) or (b"null", b"")
        try:
            orjson.loads(value)
        except orjson.JSONDecodeError:
            document["value_base64"] = base64.b64encode(value).decode()
        else:
            # Line ends in JSON are white space; in server-sent events they would end the datum.
            document["value"] = orjson.Fragment(value.replace(b"\n", b" ").replace(b"\r", b" "))
        return orjson.dumps(document)

    def cursor(self) -> str:
        """The place to go on from, for `from=` or Last-Event-ID."""
        return ",".join(f"{partition}:{offset}" for partition, offset in sorted(self.offsets.items()))


def _header(message: Message, name: str) -> bytes:
    told = dict(message.headers() or ()).get(name)
    return told if isinstance(told, bytes) else b""


def positions(start: str, partitions: Mapping[int, object]) -> dict[int, int]:
    """`now`, `beginning`, an offset for all partitions, or `partition:offset,…` (others from their beginning)."""
    if start in ("", "now"):
        return dict.fromkeys(partitions, OFFSET_END)
    if start == "beginning":
        return dict.fromkeys(partitions, OFFSET_BEGINNING)
    try:
        if start.isdigit():
            return dict.fromkeys(partitions, int(start))
        named = dict.fromkeys(partitions, OFFSET_BEGINNING)
        for pair in start.split(","):
            partition, offset = (int(number) for number in pair.split(":"))
            if partition not in named or offset < 0:
                raise ValueError(pair)
            named[partition] = offset
        return named
    except ValueError as error:
        advice = "from= is now, beginning, an offset, or partition:offset,… of partitions that exist."
        raise Refusal("bad_parameter", advice) from error
