"""Fields that facts usually have and have no more, and fields that nobody declared."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from penstock.model.source import Field, Source
from penstock.ops.watch.fields import drift, missing

NINE = datetime(2026, 11, 18, 9, tzinfo=UTC)
MAP = "map<string,string>"
EVENTS = Source("toy.events", "who", (Field("who"), Field("amount", "bigint"), Field("extra", MAP)), ())


def test_fields_that_came_and_went_are_told(tmp_path: Path) -> None:
    rows = [("old", NINE - timedelta(hours=2)), ("both", NINE - timedelta(hours=2)), ("both", NINE), ("new", NINE)]
    silver = {
        "logged_at": pa.array([at for _, at in rows], pa.timestamp("us", "UTC")),
        "disposition": ["fact"] * len(rows),
        "extra": pa.array([[(name, "1")] for name, _ in rows], pa.map_(pa.string(), pa.string())),
    }
    write_deltalake(tmp_path / "silver", pa.table(silver))
    (found,) = drift(str(tmp_path / "silver"), EVENTS, NINE)
    assert (found.severity, "new: new; no longer there: old" in found.text) == ("warning", True)


def test_a_source_without_records_has_no_drift(tmp_path: Path) -> None:
    assert list(drift(str(tmp_path / "silver"), EVENTS, NINE)) == []


@pytest.mark.parametrize(
    ("usual", "now", "found"),
    [
        (1000, 0, ["amount in 0.0% of facts (usually 50.0%)"]),
        (1000, 100, ["amount in 20.0% of facts (usually 50.0%)"]),
        (1000, 130, []),
        (300, 0, []),
        (0, 500, []),
    ],
    ids=["it went missing", "most senders dropped it", "half as usual", "too few to say", "it is new"],
)
def test_a_declared_field_that_went_missing_is_told(tmp_path: Path, usual: int, now: int, found: list[str]) -> None:
    hours = [(NINE - timedelta(hours=5), 2000, usual), (NINE, 500, now)]
    silver = {
        "logged_at": pa.array([at for at, facts, _ in hours for _ in range(facts)], pa.timestamp("us", "UTC")),
        "disposition": ["fact"] * 2500,
        "who": ["ann"] * 2500,
        "amount": pa.array([1 if n < filled else None for _, facts, filled in hours for n in range(facts)], pa.int64()),
    }
    write_deltalake(tmp_path / "silver", pa.table(silver))
    told = list(missing(str(tmp_path / "silver"), EVENTS, NINE))
    assert [(one.kind, one.severity, found[0] in one.text) for one in told] == [
        ("fields_missing", "warning", True)
    ] * len(found)


def test_the_first_hour_of_a_source_lacks_nothing(tmp_path: Path) -> None:
    silver = {"logged_at": pa.array([NINE], pa.timestamp("us", "UTC")), "disposition": ["fact"], "who": ["ann"]}
    write_deltalake(tmp_path / "silver", pa.table({**silver, "amount": pa.array([None], pa.int64())}))
    assert list(missing(str(tmp_path / "silver"), EVENTS, NINE)) == []
