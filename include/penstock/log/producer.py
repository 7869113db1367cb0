"""Appends records to the log and says when all in-sync replicas have them. One producer for one event loop."""

import asyncio
import time
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
from confluent_kafka import KafkaError, KafkaException, Producer

from penstock.model.record import EVENT_ID, SUBJECTS

# How often acknowledgements are fetched while any is awaited: the resolution of the event loop's timers.
PUMP = 0.001
# How long, in milliseconds, a record waits for others on its way to the same partition.
LINGER = 3
# Before that nothing that was appended is on the log, unless it filled a batch.
FIRST = LINGER / 1000
# A batch that is not acknowledged by then goes to the spool: senders do not wait for a leader's election.
PATIENCE = 2.0

# What the client takes for a partition that the key decides, and for the time of the call.
ANYWHERE, NOW = -1, 0

# Errors that belong to one record: no other broker or time would take it.
PERMANENT = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_RECORD, KafkaError.INVALID_MSG}


# As the Kafka client wants them; ours are always bytes.
Envelope = dict[str, str | bytes | None]


class Record(msgspec.Struct, gc=False):
    """What is put on the log: opaque bytes, key and headers. Made faster than a tuple.

    Those of one request share an envelope; what differs is each one's own, so that a dictionary for each of them is
    neither made nor kept until the log has answered.
    """

    topic: str
    value: bytes
    key: bytes | None
    shared: Envelope
    event_id: str = ""
    subjects: bytes = b""

    @property
    def headers(self) -> Envelope:
        """All that it says of itself, each time as a dictionary of its own."""
        headers = {EVENT_ID: self.event_id.encode(), **self.shared} if self.event_id else {**self.shared}
        if self.subjects:
            headers[SUBJECTS] = self.subjects
        return headers


def with_headers(records: Sequence[Record]) -> Iterator[tuple[Record, Envelope]]:
    """Each record and its headers, which are good until the next: those that share an envelope share a dictionary."""
    shared, headers = None, {}
    for each in records:
        if each.shared is shared and each.event_id and each.subjects:
            headers[EVENT_ID], headers[SUBJECTS] = each.event_id, each.subjects
        else:
            shared, headers = each.shared, each.headers
        yield each, headers


class Position(NamedTuple):
    partition: int
    offset: int


class LogDown(ConnectionError):
    """The log did not take all records. Some may be on it: sending them again is safe, their ids are the same."""


class NeverTaken(ValueError):
    """The log will not take a record of this batch, now or later."""


class Batch:
    """The records of one append, and how many acknowledgements are missing."""

    __slots__ = ("born", "error", "future", "left", "positions")

    def __init__(self, size: int, future: "asyncio.Future[list[Position]]") -> None:
        self.left = size
        self.future = future
        self.error: KafkaError | None = None
        self.positions: list[Position] = []
        self.born = time.monotonic()

    def acknowledged(self, error: KafkaError | None, _: object) -> None:
        if error is not None:
            self.error = error
        self.left -= 1
        if not self.left and not self.future.done():
            self._finish()

    def placed(self, index: int, error: KafkaError | None, message: Any) -> None:
        if error is None:
            self.positions[index] = Position(message.partition(), message.offset())
        self.acknowledged(error, message)

    def _finish(self) -> None:
        if self.error is None:
            self.future.set_result(self.positions)
        elif self.error.code() in PERMANENT:
            self.future.set_exception(NeverTaken(self.error.str()))
        else:
            self.future.set_exception(LogDown(self.error.str()))


class Log:
    """An idempotent producer with acks=all. After a failure it starts again with a fresh client."""

    def __init__(self, kafka: str, patience: float = PATIENCE, **client: Any) -> None:
        self.patience = patience
        self._settings = {
            "bootstrap.servers": kafka,
            "acks": "all",
            "enable.idempotence": True,
            # The client's thread spins through the last millisecond of a wait: at 1 it took a third of the collector.
            "linger.ms": LINGER,
            "compression.type": "lz4",
            # What does not fit here belongs in the spool: this bounds the collector's memory.
            "queue.buffering.max.kbytes": 32 * 1024,
            "message.timeout.ms": int(patience * 2000),
            "reconnect.backoff.max.ms": 1000,
            "error_cb": self._failing,
            "log_level": 0,
            **client,
        }
        self._client = Producer(self._settings)
        self._waiting: deque[Batch] = deque()
        self._pumping: asyncio.TimerHandle | None = None
        self._down = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def append(self, records: Sequence[Record], placed: bool = False) -> "asyncio.Future[list[Position]]":
        """Resolves when every record is durable, with their positions if `placed`; else raises LogDown."""
        # Kept: asking for it is a system call.
        loop = self._loop = self._loop or asyncio.get_running_loop()
        batch = Batch(len(records), loop.create_future())
        produce = self._client.produce
        try:
            if placed:
                batch.positions = [Position(-1, -1)] * len(records)
                for index, (each, headers) in enumerate(with_headers(records)):
                    placed_at = partial(batch.placed, index)
                    produce(each.topic, each.value, each.key, ANYWHERE, placed_at, None, NOW, headers)
            else:
                report = batch.acknowledged
                for each, headers in with_headers(records):
                    # By position: a fifth of the call's time would go into names.
                    produce(each.topic, each.value, each.key, ANYWHERE, report, None, NOW, headers)
        except (BufferError, KafkaException) as error:
            batch.future.set_exception(_refused(error))
            return batch.future
        self._waiting.append(batch)
        if self._pumping is None:
            self._pumping = loop.call_later(FIRST, self._pump, loop)
        return batch.future

    def _pump(self, loop: asyncio.AbstractEventLoop) -> None:
        self._client.poll(0)
        waiting = self._waiting
        while waiting and waiting[0].future.done():
            waiting.popleft()
        if waiting and (self._down or time.monotonic() - waiting[0].born > self.patience):
            self._give_up(loop)
        if waiting:
            lingers = waiting[0].born + FIRST - time.monotonic()
            self._pumping = loop.call_later(max(PUMP, lingers), self._pump, loop)
        else:
            self._pumping = None

    def _give_up(self, loop: asyncio.AbstractEventLoop) -> None:
        """Fails everything that waits. The old client may still deliver some of it: the same ids, so no harm."""
        old, self._client = self._client, Producer(self._settings)
        self._down = False
        while self._waiting:
            batch = self._waiting.popleft()
            if not batch.future.done():
                batch.future.set_exception(LogDown("no broker answers, or none acknowledged in time"))
        loop.run_in_executor(None, _discard, old)

    async def answers(self) -> bool:
        """Whether a broker answers at all: cheaper to ask than to send and give up."""
        try:
            await asyncio.to_thread(self._client.list_topics, timeout=1)
        except KafkaException:
            return False
        return True

    def _failing(self, error: KafkaError) -> None:
        if error.fatal() or error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._down = True

    async def close(self, timeout: float = 5) -> None:
        """Waits for what is under way, then lets the client go."""
        if self._waiting:
            await asyncio.wait([batch.future for batch in self._waiting], timeout=timeout)
        if self._pumping is not None:
            self._pumping.cancel()
        await asyncio.get_running_loop().run_in_executor(None, _discard, self._client)


def _refused(error: Exception) -> Exception:
    if isinstance(error, KafkaException) and error.args[0].code() in PERMANENT:
        return NeverTaken(str(error))
    return LogDown(str(error))


def _discard(client: Any) -> None:
    client.purge()
    client.poll(0)
