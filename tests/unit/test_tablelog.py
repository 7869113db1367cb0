"""Versions that a link adds to a log: what they say, who wins, and what others' versions do to who follows them."""

import errno
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.schema import Field, PrimitiveType

from penstock.engine.commit import Appender, create
from penstock.lake.place import Place
from penstock.lake.tablelog import Entry, LinkedLog, StoreLog, Written
from penstock.lake.versions import version_file

ROWS = pa.schema({"id": pa.int64(), "day": pa.date32()})
FILE = Written("day=2026-03-01/part-1.parquet", 7, {"day": "2026-03-01"}, '{"numRecords": 1}')


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = str(tmp_path / "rows")
    create(path, ROWS, ("id",))
    return path


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": ids, "day": pa.array([20_513] * len(ids), pa.int32()).cast(pa.date32())}, ROWS)


def ids(table: str) -> list[int]:
    return sorted(DeltaTable(table).to_pyarrow_table()["id"].to_pylist())


def said(table: str, version: int) -> dict[str, Any]:
    """The actions of a version by their kind, without what is of its writer and its time alone."""
    lines = Path(table, "_delta_log", version_file(version)).read_text().splitlines()
    actions: dict[str, dict[str, Any]] = {kind: told for line in lines for kind, told in json.loads(line).items()}
    own = ("timestamp", "modificationTime", "engineInfo", "clientVersion")
    return {
        kind: {name: value for name, value in told.items() if name not in own and value is not None}
        for kind, told in actions.items()
    }


def entry(number: int = 0, after: int = -1) -> Entry:
    return Entry("query", number, after, {"query": "query", "epoch": number})


def test_a_linked_version_says_what_delta_rs_would_say(table: str) -> None:
    LinkedLog(table, DeltaTable(table)).append([FILE], entry())
    StoreLog(DeltaTable(table)).append([FILE], entry(1, 0))
    ours, theirs = said(table, 1), said(table, 2)
    assert ours == {
        **theirs,
        "commitInfo": {**theirs["commitInfo"], "penstock": {"query": "query", "epoch": 0}},
        "txn": {"appId": "query", "version": 0},
    }


def test_writers_of_every_kind_lose_no_row_of_each_other(table: str) -> None:
    def ours(first: int) -> None:
        appender = Appender(table)
        for number in range(first, first + 20):
            assert appender.append(rows(number), f"query-{first}", number)

    def theirs(first: int) -> None:
        for number in range(first, first + 20):
            write_deltalake(table, rows(number), mode="append")

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(ours, 0), pool.submit(ours, 20), pool.submit(theirs, 40)]:
            done.result()
    assert ids(table) == list(range(60))


def test_an_application_that_somebody_else_has_committed_meanwhile_is_refused(table: str) -> None:
    log = LinkedLog(table, DeltaTable(table))
    last = log.committed("query")
    Appender(table).append(rows(1), "query", 3)
    with pytest.raises(CommitFailedError):
        log.append([FILE], entry(4, last))
    assert DeltaTable(table).version() == 1


def test_a_table_that_was_made_anew_gets_no_version_of_the_old_one(table: str) -> None:
    appender = Appender(table)
    for number in range(3):
        appender.append(rows(number), "query", number)
    shutil.rmtree(table)
    create(table, ROWS, ("id",))
    with pytest.raises(CommitFailedError, match="made anew"):
        appender.append(rows(3), "query", 3)
    assert ids(table) == []


def test_columns_that_somebody_adds_do_not_stop_who_appends(table: str) -> None:
    appender = Appender(table)
    appender.append(rows(0), "query", 0)
    DeltaTable(table).alter.add_columns([Field("more", PrimitiveType("string"))])
    assert not appender.append(rows(0), "query", 0)
    assert appender.append(rows(1), "query", 1)
    assert ids(table) == [0, 1]


def test_a_full_disk_leaves_no_version_and_no_draft(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log, write = LinkedLog(table, DeltaTable(table)), Place.write

    def full(place: Place, name: str, content: bytes) -> int:
        write(place, name, content[:9])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Place, "write", full)
    with pytest.raises(OSError, match="No space"):
        log.append([FILE], entry())
    assert [each.name for each in Path(table, "_delta_log").iterdir()] == [version_file(0)]


def test_a_table_with_features_that_only_delta_rs_knows_is_written_by_it(tmp_path: Path) -> None:
    # Moments without a zone are such a feature.
    path = str(tmp_path / "rows")
    create(path, pa.schema({"at": pa.timestamp("us")}), ("at",))
    assert Appender(path).append(pa.table({"at": pa.array([1], pa.timestamp("us"))}), "query", 0)
    assert "engineInfo" in Path(path, "_delta_log", version_file(1)).read_text()
