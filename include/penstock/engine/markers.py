"""Offsets that no record ever had: each end of a transaction takes one. In bronze it looks like a lost record.

The log tells them apart as long as it has what lies around them: it jumps over them as bronze does. What it said is
kept, for it forgets: up to which offset of a partition it was asked, and how many offsets had no record.
"""

import time
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
from confluent_kafka import Consumer, KafkaException, TopicPartition
from deltalake import write_deltalake

from penstock.engine.arrived import asked
from penstock.engine.gaps import PATIENCE, Hole
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table

SCHEMA = pa.schema({"source": pa.string(), "partition": pa.int32(), "upto": pa.int64(), "unused": pa.int64()})
SAID = "select partition, max(upto), max_by(unused, upto) from rows where source = $source group by partition"
WAIT = 10.0


def lost(layout: Layout, kafka: str, source: str, holes: Sequence[Hole]) -> list[Hole]:
    """Those of the holes in a source's bronze that were records, or of which nobody can say any more."""
    said, found, proven = _said(layout, source), list[Hole](), list[Hole]()
    for part, its in groupby(sorted(holes), key=itemgetter(0)):
        own, (upto, unused) = list(its), said.get(part, (0, 0))
        known = [hole for hole in own if hole[2] <= upto]
        new = own[len(known) :] if _offsets(known) == unused else own
        left = _unproven(kafka, source, new)
        found += left
        if new and not left:
            proven.append((part, own[-1][2], _offsets(own)))
    _keep(layout, source, proven)
    return found


def _offsets(holes: Sequence[Hole]) -> int:
    return sum(end - first for _, first, end in holes)


def _unproven(kafka: str, source: str, holes: Sequence[Hole]) -> list[Hole]:
    if not holes:
        return []
    settings = {
        "bootstrap.servers": kafka,
        "group.id": "penstock.markers",
        "log_level": 0,
        "enable.partition.eof": True,
    }
    reader = Consumer({**settings, "isolation.level": "read_uncommitted"})
    try:
        return [hole for hole in holes if not _jumped(reader, source, hole)]
    except KafkaException:
        return list(holes)
    finally:
        reader.close()


def _jumped(reader: Consumer, source: str, hole: Hole) -> bool:
    """Whether the log still reaches back to a hole, and goes on behind it."""
    part, first, end = hole
    if reader.get_watermark_offsets(TopicPartition(source, part), WAIT)[0] > first:
        return False
    reader.assign([TopicPartition(source, part, first)])
    limit = time.monotonic() + PATIENCE
    while (record := reader.poll(1)) is None and time.monotonic() < limit:
        pass
    return record is not None and not record.error() and (record.offset() or 0) >= end


def _said(layout: Layout, source: str) -> dict[int, tuple[int, int]]:
    table = open_table(layout.control("markers"))
    rows = asked(table, SAID, source=source) if table else []
    return {int(part): (int(upto), int(unused)) for part, upto, unused in rows}


def _keep(layout: Layout, source: str, proven: Sequence[tuple[int, int, int]]) -> None:
    if proven:
        rows = [dict(zip(SCHEMA.names, (source, *each), strict=True)) for each in proven]
        write_deltalake(layout.control("markers"), pa.Table.from_pylist(rows, SCHEMA), mode="append")
