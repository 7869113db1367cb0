"""What counts as unusual in what arrives."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from penstock.lake.ledger import Balance
from penstock.ops.watch.ingest import WEEK, shares, spoilt, volume

NINE = datetime(2026, 11, 18, 9, tzinfo=UTC)


def hour(records: int, at: datetime = NINE, duplicates: int = 0, reasons: Mapping[str, int] | None = None) -> Balance:
    rejected = sum((reasons or {}).values())
    facts = records - rejected - duplicates
    return Balance("toy.events", at, records, records, facts, rejected, duplicates, 0, False, reasons or {})


@pytest.mark.parametrize(
    ("now", "past", "found"),
    [
        (1000, [1000, 900, 1100], []),
        (300, [1000, 900, 1100], ["warning"]),
        (3000, [1000, 900, 1100], ["warning"]),
        (0, [1000, 900, 1100], ["critical"]),
        (300, [], []),
        (3, [10, 10], []),
    ],
    ids=["usual", "few", "many", "none", "no past", "a small source"],
)
def test_volume_is_judged_by_the_same_hour_of_past_weeks(now: int, past: list[int], found: list[str]) -> None:
    said = [hour(count, NINE - week * WEEK) for week, count in enumerate([now, *past])]
    assert [one.severity for one in volume(said, NINE)] == found


def test_reasons_and_duplicates_that_are_no_noise_are_told() -> None:
    said = [hour(1000, duplicates=100, reasons={"bad_url": 50, "malformed": 1})]
    found = [(one.kind, "50 bad_url" in one.text, "malformed" in one.text) for one in shares(said, NINE)]
    assert found == [("many_rejected", True, False), ("many_duplicates", False, False)]


@pytest.mark.parametrize(
    ("rejected", "minutes_ago", "found"),
    [(50, 1, ["many_rejected"]), (20, 1, []), (50, 9, [])],
    ids=["a sender broke", "noise", "it was mended"],
)
def test_a_sender_that_breaks_is_told_of_within_minutes(
    tmp_path: Path, rejected: int, minutes_ago: int, found: list[str]
) -> None:
    facts, at = 1000 - rejected, NINE - timedelta(minutes=minutes_ago)
    silver = {
        "logged_at": pa.array([at] * 1000, pa.timestamp("us", "UTC")),
        "disposition": ["fact"] * facts + ["rejected"] * rejected,
        "reason": pa.array([None] * facts + ["bad_url"] * rejected, pa.string()),
    }
    write_deltalake(tmp_path / "silver", pa.table(silver))
    told = list(spoilt(str(tmp_path / "silver"), "toy.events", NINE))
    assert [(one.kind, f"{rejected} bad_url" in one.text) for one in told] == [(kind, True) for kind in found]
