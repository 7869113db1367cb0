"""What a build asks of silver before it plans anything: the last epoch that has facts, and the days they came for."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from penstock.engine import arrived


def row(epoch: int, day: int, disposition: str = "fact") -> dict[str, Any]:
    moment = datetime(2026, 11, day, 23, 59, tzinfo=UTC)
    return {"epoch": epoch, "day": moment.date(), "viewed_at": moment, "disposition": disposition}


# Of so many columns a file's least and greatest are in the log.
SAID = pytest.mark.parametrize("said", [32, 0], ids=["the log says what files have", "it does not"])


def silver(folder: Path, *rows: dict[str, Any], said: int = 32) -> DeltaTable:
    """Each row in a file of its own."""
    how = {"delta.dataSkippingNumIndexedCols": str(said)}
    for each in rows:
        write_deltalake(
            str(folder), pa.Table.from_pylist([each]), partition_by=["day"], mode="append", configuration=how
        )
    return DeltaTable(str(folder))


@SAID
def test_rejected_records_move_no_cut(tmp_path: Path, said: int) -> None:
    rows = (row(3, 1), row(4, 2, "rejected"), row(2, 1), row(0, 3))
    assert arrived.last_epoch(silver(tmp_path, *rows, said=said)) == 3


def test_the_first_epoch_is_one(tmp_path: Path) -> None:
    assert arrived.last_epoch(silver(tmp_path, row(0, 1))) == 0


def test_files_of_epochs_that_are_known_to_be_older_are_not_read(tmp_path: Path) -> None:
    table = silver(tmp_path, row(3, 1), row(4, 2))
    for old in tmp_path.glob("day=2026-11-01/*"):
        old.unlink()
    assert (arrived.last_epoch(table), arrived.days(table, None, "happened_at", 3)) == (4, {date(2026, 11, 2)})


def test_without_facts_there_is_no_epoch(tmp_path: Path) -> None:
    assert arrived.last_epoch(silver(tmp_path, row(4, 2, "rejected"))) == -1


def test_the_newest_epoch_is_of_any_row(tmp_path: Path) -> None:
    assert arrived.newest(silver(tmp_path, row(3, 1), row(4, 2, "rejected"))) == 4


@SAID
def test_days_are_those_of_facts_after_the_cut_by_any_moment(tmp_path: Path, said: int) -> None:
    table = silver(tmp_path, row(3, 1), row(4, 2), row(5, 2), row(5, 3, "duplicate"), said=said)
    days = [arrived.days(table, None, at, 3) for at in ("happened_at", "viewed_at")]
    assert days == [{date(2026, 11, 2)}] * 2


def test_rows_that_came_are_those_of_the_files_that_have_any(tmp_path: Path) -> None:
    table = silver(tmp_path, row(3, 1), row(4, 2), row(5, 3, "rejected"))
    assert [arrived.at_most(table, since) for since in (2, 3, 5)] == [3, 2, 0]
