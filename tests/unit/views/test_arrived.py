"""What a build asks of silver before it plans anything: the last epoch that has facts, and the days they came for."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from penstock.engine import arrived


def row(epoch: int, day: int, disposition: str = "fact") -> dict[str, Any]:
    moment = datetime(2026, 11, day, 23, 59, tzinfo=UTC)
    return {"epoch": epoch, "day": moment.date(), "viewed_at": moment, "disposition": disposition}


def silver(folder: Path, *rows: dict[str, Any]) -> DeltaTable:
    write_deltalake(str(folder), pa.Table.from_pylist(list(rows)), partition_by=["day"])
    return DeltaTable(str(folder))


def test_rejected_records_move_no_cut(tmp_path: Path) -> None:
    assert arrived.last_epoch(silver(tmp_path, row(3, 1), row(4, 2, "rejected"))) == 3


def test_without_facts_there_is_no_epoch(tmp_path: Path) -> None:
    assert arrived.last_epoch(silver(tmp_path, row(4, 2, "rejected"))) == -1


def test_the_newest_epoch_is_of_any_row(tmp_path: Path) -> None:
    assert arrived.newest(silver(tmp_path, row(3, 1), row(4, 2, "rejected"))) == 4


def test_days_are_those_of_facts_after_the_cut_by_any_moment(tmp_path: Path) -> None:
    table = silver(tmp_path, row(3, 1), row(4, 2), row(5, 2), row(5, 3, "duplicate"))
    days = [arrived.days(table, None, at, 3) for at in ("happened_at", "viewed_at")]
    assert days == [{date(2026, 11, 2)}] * 2
