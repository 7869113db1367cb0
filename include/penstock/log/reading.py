"""Records of the log by their offsets, as Arrow, in whatever process asks for them.

A task of Spark's has them for a third of what they cost on their way through the JVM: docs/decisions/0094.
"""

import gc
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import cast

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])
# What a record is, for whoever reads it from the log: Spark's names, in its order.
RECORD = pa.schema(
    {
        "key": pa.binary(),
        "value": pa.binary(),
        "headers": pa.list_(HEADER),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", "UTC"),
    }
)
# Of more at once Python's objects leave the processor's cache, and of fewer than this DuckDB's vectors are not full.
# The client fetches as many ahead, 2 MB a time: what it has behind the end of a range is in vain.
AT_ONCE, FETCHED = 2_048, 2 << 20
# Where a transaction has ended there are fewer records than offsets, and who asks for all of them waits so long.
WAIT_SECONDS = 0.2
# So long without a record the log may be silent: its broker may be another one by now.
PATIENCE = 60.0


class Unread(RuntimeError):
    """The log did not give all records that it was asked for; none of them was taken."""


def read(kafka: str, source: str, offsets: Mapping[int, tuple[int, int]]) -> Iterator[pa.RecordBatch]:
    """Every record at offsets [first, next) of each partition, in their order."""
    settings: dict[str, str | int | bool] = {
        "bootstrap.servers": kafka,
        "group.id": "penstock.reading",
        "log_level": 0,
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
        "enable.partition.eof": True,
        # As Spark's reader has it.
        "isolation.level": "read_uncommitted",
        "check.crcs": True,
        "fetch.message.max.bytes": FETCHED,
        # And nobody waits a second, as is usual, once that is full.
        "queued.min.messages": AT_ONCE,
        "queued.max.messages.kbytes": 8192,
        "fetch.queue.backoff.ms": 1,
    }
    reader = Consumer(settings)
    try:
        for part, (first, end) in sorted(offsets.items()):
            reader.assign([TopicPartition(source, part, first)])
            yield from _of_partition(reader, first, end)
    finally:
        reader.close()


def parted(offsets: Mapping[int, tuple[int, int]], parts: int) -> list[dict[int, tuple[int, int]]]:
    """The same ranges in so many parts that follow each other, of as many offsets each."""
    found: list[dict[int, tuple[int, int]]] = [{} for _ in range(parts)]
    whole, before = sum(end - first for first, end in offsets.values()), 0
    for part, (first, end) in sorted(offsets.items()):
        cuts = [min(max(whole * each // parts - before, 0), end - first) for each in range(parts + 1)]
        for each, (begin, stop) in enumerate(pairwise(cuts)):
            if begin < stop:
                found[each][part] = (first + begin, first + stop)
        before += end - first
    return found


def _of_partition(reader: Consumer, first: int, end: int) -> Iterator[pa.RecordBatch]:
    at, limit = first, time.monotonic() + PATIENCE
    while at < end:
        with _without_collecting():
            found, reached = _next(reader, at, end)
        if found.num_rows:
            yield found
        if reached > at:
            at, limit = reached, time.monotonic() + PATIENCE
        elif time.monotonic() > limit:
            raise Unread(f"the log gave nothing from offset {at} on for {PATIENCE:.0f} s, and has to give up to {end}")


def _next(reader: Consumer, at: int, end: int) -> tuple[pa.RecordBatch, int]:
    """Records from an offset on, and the offset after them. All objects that they were are gone when it returns."""
    said = reader.consume(min(end - at, AT_ONCE), WAIT_SECONDS)
    records = [each for each in said if not each.error()]
    reached = [_end(each) for each in said if each.error()] if len(records) < len(said) else []
    offsets = cast(list[int], [each.offset() for each in records])
    within = bisect_left(offsets, end)
    return batch(records[:within]), max([at, *reached, *(each + 1 for each in offsets[-1:])])


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Python looks for cycles whenever so many objects were made: among records there are none, and it took a half."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _end(told: Message) -> int:
    """The offset at which a partition says that it ends."""
    error = told.error()
    assert error is not None
    if error.code() != KafkaError._PARTITION_EOF:
        raise KafkaException(error)
    return told.offset() or 0


def batch(records: Sequence[Message]) -> pa.RecordBatch:
    """Records as the log has them."""
    moments = pa.array([record.timestamp()[1] for record in records], pa.timestamp("ms", "UTC"))
    columns = [
        pa.array([record.key() for record in records], pa.binary()),
        pa.array([record.value() for record in records], pa.binary()),
        pa.array([record.headers() for record in records], RECORD.field("headers").type),
        pa.array([record.partition() for record in records], pa.int32()),
        pa.array([record.offset() for record in records], pa.int64()),
        moments.cast(RECORD.field("timestamp").type),
    ]
    return pa.record_batch(columns, RECORD)
