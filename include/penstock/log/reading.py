"""Records of the log by their offsets, as Arrow, in whatever process asks for them.

A task of Spark's has them for a third of what they cost on their way through the JVM: docs/decisions/0094.
"""

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

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
AT_ONCE, AHEAD = 2_048, 10_000
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
        # What is read ahead of a range is read in vain; and nobody waits a second, as is usual, once that is full.
        "queued.min.messages": AHEAD,
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


def _of_partition(reader: Consumer, first: int, end: int) -> Iterator[pa.RecordBatch]:
    at, limit = first, time.monotonic() + PATIENCE
    while at < end:
        with _without_collecting():
            said = reader.consume(min(end - at, AT_ONCE), WAIT_SECONDS)
            ends = [_reached(each) for each in said]
            reached = max([at, *ends])
            found = batch([each for each, to in zip(said, ends, strict=True) if not each.error() and to <= end])
        if found.num_rows:
            yield found
        if reached > at:
            at, limit = reached, time.monotonic() + PATIENCE
        elif time.monotonic() > limit:
            raise Unread(f"the log gave nothing from offset {at} on for {PATIENCE:.0f} s, and has to give up to {end}")


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Python looks for cycles whenever so many objects were made: among records there are none, and it took a half."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _reached(told: Message) -> int:
    """The offset after a record, or that of the log's end."""
    error, offset = told.error(), told.offset() or 0
    if error is None:
        return offset + 1
    if error.code() != KafkaError._PARTITION_EOF:
        raise KafkaException(error)
    return offset


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
