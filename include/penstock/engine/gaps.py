"""Records that a stream needs and the log no longer has: named before the stream starts, never skipped in silence.

A gap is accepted by an operator only. What was lost is then booked, so that the hour balances with its loss in it.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

import pyarrow as pa
from confluent_kafka import Consumer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.engine.arrived import asked
from penstock.engine.commit import Appender, create
from penstock.lake.ledger import LEDGER
from penstock.lake.publication import last_epoch, open_table

Offsets = Mapping[int, int]
# Offsets [first, next) of a partition that bronze lacks between two that it has.
Hole = tuple[int, int, int]
PATIENCE = 60.0


class GapFound(RuntimeError):
    """The log lacks records that a stream has not read. Nothing was skipped; the stream waits for an operator."""


@dataclass(frozen=True)
class Gap:
    """Offsets [first, next) of a partition. `reason` is `retention` or `recreated`."""

    source: str
    partition: int
    first: int
    next: int
    reason: str

    def __str__(self) -> str:
        if self.reason == "recreated" and self.next < self.first:
            return (
                f"partition {self.partition} of {self.source} ends at offset {self.next}, before {self.first}, which "
                "was read already: the topic was deleted and made again"
            )
        if self.reason == "recreated":
            return f"{self.source} has another id than the topic that was read: it was deleted and made again"
        lost = self.next - self.first
        return (
            f"{lost:,} records of {self.source} from partition {self.partition}, offset {self.first} passed retention"
        )


def gaps(kafka: str, source: str, wanted: Offsets, topic: str = "") -> list[Gap]:
    """What lies between the offsets that a stream wants next and those that the log has.

    `topic`: the id of the topic that was read before. Another one may have grown beyond the same offsets since.
    """
    if found := remade(kafka, source, wanted, topic):
        return found
    for part, (low, high) in watermarks(kafka, source).items():
        first = wanted.get(part, 0)
        if first < low:
            found.append(Gap(source, part, first, low, "retention"))
        elif first > high:
            found.append(Gap(source, part, first, high, "recreated"))
    return found


def remade(kafka: str, source: str, wanted: Offsets, topic: str) -> list[Gap]:
    """The same gap in every partition, where the topic is not the one that was read before."""
    same = not topic or topic == identity(kafka, source)
    return [] if same else [Gap(source, part, first, first, "recreated") for part, first in wanted.items()]


def refuse(found: list[Gap]) -> None:
    """Stops a stream that would have to skip something."""
    if found:
        again = any(gap.reason == "recreated" for gap in found)
        accept = (
            f"accept the loss with `penstock checkpoints accept-loss {found[0].source}`, which books it in the ledger"
        )
        out = "Give the new topic a new source's name" if again else f"Bring the records back, or {accept}"
        raise GapFound(f"{'; '.join(dict.fromkeys(map(str, found)))}. Nothing was skipped. {out}.")


def identity(kafka: str, source: str) -> str:
    """The id that the cluster gave a topic when it was made."""
    told = _admin(kafka).describe_topics(TopicCollection([source]), request_timeout=10)
    return str(told[source].result().topic_id)


@cache
def _admin(kafka: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": kafka, "log_level": 0})


def watermarks(kafka: str, source: str) -> dict[int, tuple[int, int]]:
    """The first offset of each partition and the one after its last."""
    reader = Consumer({"bootstrap.servers": kafka, "group.id": "penstock.gaps", "log_level": 0})
    try:
        topic = reader.list_topics(source, timeout=10).topics[source]
        return {part: reader.get_watermark_offsets(TopicPartition(source, part), 10) for part in topic.partitions}
    finally:
        reader.close()


def held(kafka: str, source: str, offsets: Mapping[int, tuple[int, int]]) -> int:
    """How many records the log holds at offsets [first, next) of each partition; a transaction's end is none."""
    settings = {"bootstrap.servers": kafka, "group.id": "penstock.gaps", "log_level": 0, "enable.partition.eof": True}
    reader = Consumer({**settings, "isolation.level": "read_uncommitted"})
    left, count, limit = {part for part, (first, next) in offsets.items() if first < next}, 0, time.time() + PATIENCE
    try:
        reader.assign([TopicPartition(source, part, offsets[part][0]) for part in left])
        while left and time.time() < limit:
            record = reader.poll(1)
            if record is None:
                continue
            part, at = record.partition() or 0, record.offset() or 0
            if record.error() or at >= offsets[part][1]:
                left.discard(part)
            else:
                count += part in left
        return count
    finally:
        reader.close()


def book(kafka: str, ledger: str, lost: list[Gap]) -> int:
    """Writes accepted losses to the books, each once, and says how many records they were."""
    create(ledger, LEDGER, ("hour",))
    for gap in lost:
        entry = {
            "source": gap.source,
            "stage": "lost",
            "hour": hour_after(kafka, gap),
            "reason": gap.reason,
            "records": gap.next - gap.first,
        }
        Appender(ledger).append(pa.Table.from_pylist([entry], LEDGER), _booking(gap.source, gap.partition), gap.next)
    return sum(gap.next - gap.first for gap in lost)


def _booking(source: str, partition: int) -> str:
    return f"lost/{source}/{partition}"


def unbooked(ledger: str, source: str, holes: list[Hole]) -> list[Hole]:
    """Those of the holes in an archive that no operator has accepted."""
    table = open_table(ledger) if holes else None
    if table is None:
        return holes
    lost = "select distinct records from rows where stage = 'lost' and source = $source"
    sizes = {records for (records,) in asked(table, lost, source=source)}
    accepted = {part: last_epoch(table, _booking(source, part)) for part, _, _ in holes}
    return [(part, first, end) for part, first, end in holes if end > accepted[part] or end - first not in sizes]


def hour_after(kafka: str, gap: Gap) -> datetime:
    """The hour of the first record after a gap: nobody can say when the lost ones came, but not later than this."""
    reader = Consumer({"bootstrap.servers": kafka, "group.id": "penstock.gaps", "log_level": 0})
    try:
        reader.assign([TopicPartition(gap.source, gap.partition, gap.next)])
        record = reader.poll(5)
        at = datetime.now(UTC)
        if record is not None and not record.error():
            at = datetime.fromtimestamp(record.timestamp()[1] / 1000, UTC)
        return at.replace(minute=0, second=0, microsecond=0)
    finally:
        reader.close()
