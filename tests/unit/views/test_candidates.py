"""A candidate's files: each holds the rows of its own day and width, all of them."""

import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from penstock.engine import candidate

FIRST = date(2026, 3, 1)
WIDTHS = ("1 day", "1 hour", "1 minute")


# Of ninety days with ten rows each, Arrow gives no table's groups in the order of its rows.
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("days", "number"), [(3, 20), (30, 300), (90, 900), (90, 20_000)])
def test_every_row_is_in_the_file_of_its_day_and_width(tmp_path: Path, days: int, number: int, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    rows = [row(FIRST + timedelta(days=chance.randrange(days)), chance.choice(WIDTHS), nth) for nth in range(number)]
    candidate.save(pa.Table.from_pylist(rows), str(tmp_path))
    saved = DeltaTable(str(tmp_path)).to_pyarrow_table()
    assert saved.sort_by("nth").select([*rows[0]]).to_pylist() == rows


def row(day: date, width: str, nth: int) -> dict[str, object]:
    """What says its day and width also in columns that are in the file."""
    bucket = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return {"day": day, "width": width, "bucket": bucket, "of": f"{day} {width}", "nth": nth}
