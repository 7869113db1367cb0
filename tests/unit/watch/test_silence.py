"""When the silence of a source is longer than people are used to."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from penstock.ops.watch.silence import silent

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
EACH_MINUTE = range(120)
EACH_QUARTER = range(0, 1200, 15)


@pytest.mark.parametrize(
    ("minutes", "ago", "found"),
    [
        (EACH_MINUTE, 11, True),
        (EACH_MINUTE, 9, False),
        (EACH_QUARTER, 40, False),
        (EACH_QUARTER, 50, True),
        ([*EACH_MINUTE, *range(300, 360)], 500, False),
        (range(30), 300, False),
        (EACH_MINUTE, 30 * 60, True),
        (EACH_MINUTE, 8 * 24 * 60, False),
    ],
    ids=["busy", "a pause", "slow", "slow and silent", "as at night", "who tries", "for a day", "switched off"],
)
def test_a_source_is_silent_when_it_is_so_for_longer_than_usual(
    tmp_path: Path, minutes: range, ago: int, found: bool
) -> None:
    last = NOON - timedelta(minutes=ago)
    logged = [last - timedelta(minutes=each) for each in minutes]
    write_deltalake(tmp_path / "silver", pa.table({"logged_at": pa.array(logged, pa.timestamp("us", "UTC"))}))
    told = [
        (one.kind, one.severity, f"{ago} min ago" in one.text) for one in silent(str(tmp_path / "silver"), "toy", NOON)
    ]
    assert told == [("source_silent", "warning", True)] * found


def test_a_source_that_never_had_a_record_is_not_silent(tmp_path: Path) -> None:
    assert list(silent(str(tmp_path / "silver"), "toy", NOON)) == []
