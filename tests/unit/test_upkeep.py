"""Many small epochs leave few files and a short log, and no row is lost by tidying."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from penstock.engine import upkeep
from penstock.engine.commit import Appender, create

ROWS = pa.schema({"offset": pa.int64(), "day": pa.date32()})


DAY = date(2026, 3, 1)


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = str(tmp_path / "rows")
    create(path, ROWS, ("offset",))
    appender = Appender(path)
    for epoch in range(12):
        appender.append(pa.table({"offset": [epoch], "day": [DAY]}, ROWS), "query", epoch)
    return path


def test_small_files_are_joined_and_the_log_gets_a_checkpoint(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MANY_FILES", 10)
    monkeypatch.setattr(upkeep, "MANY_VERSIONS", 10)
    upkeep.keep(table)
    kept = DeltaTable(table)
    assert (len(kept.file_uris()), upkeep.last_checkpoint(table)) == (1, 13)
    assert sorted(kept.to_pyarrow_table()["offset"].to_pylist()) == list(range(12))
    assert Appender(table).committed("query") == 11


def test_a_table_is_looked_at_again_when_some_versions_have_come(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(upkeep, "SOME_VERSIONS", 2)
    monkeypatch.setattr(upkeep, "keep", lambda path: looked.append(DeltaTable(path).version()) or looked[-1])
    tended, appender = upkeep.Tended(table), Appender(table)
    for number in range(12, 17):
        tended()
        appender.append(pa.table({"offset": [number], "day": [DAY]}, ROWS), "query", number)
    assert looked == [12, 14, 16]


def test_a_chore_that_fails_leaves_the_others_to_be_done() -> None:
    done: list[str] = []

    def fails() -> None:
        raise OSError("the disk is full")

    chores = upkeep.Upkeep([fails, lambda: done.append("books")])
    chores.finish()
    assert done == ["books"]
