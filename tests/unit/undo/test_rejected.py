"""What was rejected is grouped by reason and shape, whatever bytes it has."""

from datetime import UTC, datetime

import pyarrow as pa
from toy_lake import QUERY, SCHEMA, ToyLake

from penstock.engine.commit import Appender
from penstock.lake.rejected import groups

RAWS = [b'{"who": 1}', b'{"who": 2, "x": "y"}', b'{"who": 3}', b"{", b"\xff\xfe", None]


def test_rejected_records_are_grouped_with_their_newest_examples(lake: ToyLake) -> None:
    rows = [
        {
            "partition": 1, "offset": offset, "epoch": 9, "event_id": f"r{offset}", "disposition": "rejected",
            "reason": "missing_who" if offset < 3 else "malformed", "raw": raw, "content_hash": 0,
            "logged_at": datetime(2026, 3, 2, 0, offset, tzinfo=UTC), "day": datetime(2026, 3, 2, tzinfo=UTC).date(),
        }
        for offset, raw in enumerate(RAWS)
    ]  # fmt: skip
    Appender(lake.layout.silver("r1", "toy.events")).append(pa.Table.from_pylist(rows, SCHEMA), QUERY, 9)
    found = groups(lake.layout, "r1", "toy.events")
    assert [(group.reason, group.shape, group.records) for group in found] == [
        ("malformed", "no JSON", 2),
        ("missing_who", '{"who":"UBIGINT"}', 2),
        ("malformed", "kept in bronze", 1),
        ("missing_who", '{"who":"UBIGINT","x":"VARCHAR"}', 1),
    ]
    assert [one["at"] for one in found[1].examples] == ["1/2", "1/0"]
    assert [group.records for group in groups(lake.layout, "r1", "toy.events", "malformed")] == [2, 1]
