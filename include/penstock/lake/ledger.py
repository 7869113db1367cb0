"""The ledger, read without a JVM: for each source and hour, what was accepted and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa
from confluent_kafka import Consumer, TopicPartition
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.releases import current
from penstock.model.domain import domains

LEDGER = pa.schema(
    {
        "source": pa.string(),
        "release": pa.string(),
        "stage": pa.string(),
        "hour": pa.timestamp("us", "UTC"),
        "reason": pa.string(),
        "records": pa.int64(),
    }
)
HOUR = timedelta(hours=1)
# What was accepted is asked of the log for so many hours back; the log keeps a week by default.
HOURS_BACK = 168
COUNTED = ("archived", "facts", "rejected", "duplicates", "lost")

SUMS = """
select source, hour,
    coalesce(sum(records) filter (stage = 'archived'), 0)::bigint as archived,
    coalesce(sum(records) filter (stage = 'fact'), 0)::bigint as facts,
    coalesce(sum(records) filter (stage = 'rejected'), 0)::bigint as rejected,
    coalesce(sum(records) filter (stage = 'duplicate'), 0)::bigint as duplicates,
    coalesce(sum(records) filter (stage = 'lost'), 0)::bigint as lost
from ledger where release is null or release = $release
group by all
"""
REASONS = """
select source, hour, reason, sum(records)::bigint as records from ledger
where release = $release and reason is not null group by all having sum(records) <> 0
"""


@dataclass(frozen=True)
class Balance:
    """One source's hour. `accepted` is None for an hour that the log itself no longer holds in full."""

    source: str
    hour: datetime
    accepted: int | None
    archived: int
    facts: int
    rejected: int
    duplicates: int
    lost: int
    open: bool
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def unarchived(self) -> int:
        """Accepted records that bronze does not have; negative: bronze has records that the log never had."""
        return 0 if self.accepted is None else self.accepted - self.archived - self.lost

    @property
    def unshaped(self) -> int:
        """Archived records without a disposition; negative: dispositions of records that bronze lacks."""
        return self.archived - self.facts - self.rejected - self.duplicates

    @property
    def balanced(self) -> bool:
        return self.unarchived == 0 and self.unshaped == 0

    @property
    def wrong(self) -> str:
        """What does not add up; empty where all does."""
        told = (
            (self.unarchived, "records are not in bronze", "are booked in bronze beside those that were accepted"),
            (self.unshaped, "of those in bronze have no disposition", "dispositions are booked beside those of bronze"),
        )
        said = [f"{abs(count):,} {lacks if count > 0 else more}" for count, lacks, more in told if count]
        return " and ".join(said)

    def as_dict(self) -> dict[str, Any]:
        derived = {"unarchived": self.unarchived, "unshaped": self.unshaped, "balanced": self.balanced}
        return {**self.__dict__, "hour": self.hour.isoformat(), **derived}


def balance(ledger: str, kafka: str, release: str = FIRST_RELEASE, source: str | None = None) -> list[Balance]:
    """Every hour of every source that has a topic or an entry, oldest first."""
    entries, reasons = booked(ledger, release)
    sources = {name for name, _ in entries} | ({source} if source else set())
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    accepted = {(name, hour): count for name in sources for hour, count in accepted_by_hour(kafka, name, now).items()}
    return [
        _balance(key, accepted.get(key), entries.get(key, {}), reasons.get(key, {}), now)
        for key in sorted({*entries, *accepted})
        if source in (None, key[0])
    ]


def balances(layout: Layout, kafka: str, source: str | None = None, release: str = "") -> list[Balance]:
    """The books of what people read: of each domain's current release, or of the one that is named."""
    return [
        hour
        for domain in domains()
        for hour in balance(layout.ledger(), kafka, release or current(layout, domain), source)
        if hour.source.partition(".")[0] == domain
    ]


def _balance(
    key: tuple[str, datetime],
    accepted: int | None,
    booked: Mapping[str, int],
    reasons: Mapping[str, int],
    now: datetime,
) -> Balance:
    archived, facts, rejected, duplicates, lost = (booked.get(name, 0) for name in COUNTED)
    opened = key[1] >= now
    return Balance(*key, accepted, archived, facts, rejected, duplicates, lost, opened, reasons)


Booked = dict[tuple[str, datetime], dict[str, int]]


def booked(path: str, release: str) -> tuple[Booked, Booked]:
    """The books by source and hour: counts by stage, and what was rejected by reason."""
    try:
        entries = DeltaTable(path).to_pyarrow_dataset()
    except TableNotFoundError:
        return {}, {}
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("ledger", entries)
        sums = _rows(memory.execute(SUMS, {"release": release}))
        named = _rows(memory.execute(REASONS, {"release": release}))
    reasons: Booked = {}
    for row in named:
        reasons.setdefault((row["source"], row["hour"]), {})[row["reason"]] = row["records"]
    return {(row["source"], row["hour"]): row for row in sums}, reasons


def _rows(answer: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def accepted_by_hour(kafka: str, topic: str, now: datetime) -> dict[datetime, int]:
    """How many records the log took in each hour that it still holds from its first record on."""
    reader = Consumer({"bootstrap.servers": kafka, "group.id": "penstock.ledger", "log_level": 0})
    try:
        known = reader.list_topics(topic, timeout=10).topics[topic]
        ends = {part: reader.get_watermark_offsets(TopicPartition(topic, part), 10) for part in known.partitions}
        hours = [now - HOUR * back for back in range(HOURS_BACK, -2, -1)]
        starts = [_offsets_at(reader, topic, hour, ends) for hour in hours]
    finally:
        reader.close()
    whole = {
        hour: sum(after[part] - before[part] for part in ends)
        for hour, before, after in zip(hours, starts, starts[1:], strict=False)
        # Where retention has taken a part of an hour, the log cannot say how many there were.
        if all(before[part] > low or low == 0 for part, (low, _) in ends.items())
    }
    return {hour: count for hour, count in whole.items() if count}


def _offsets_at(reader: Consumer, topic: str, hour: datetime, ends: Mapping[int, tuple[int, int]]) -> dict[int, int]:
    """The first offset of each partition at or after an hour's start; the end where there is none yet."""
    wanted = [TopicPartition(topic, part, int(hour.timestamp() * 1000)) for part in ends]
    found = reader.offsets_for_times(wanted, timeout=10)
    return {one.partition: one.offset if one.offset >= 0 else ends[one.partition][1] for one in found}
