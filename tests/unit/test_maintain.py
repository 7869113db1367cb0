"""Upkeep changes files, never rows, and never takes a file that a reader may need."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from penstock.lake import maintain
from penstock.lake.maintain import NotRestored, Unsafe, _same, compact, drill, smallest, tables, vacuum
from penstock.lake.publication import Publication, newest

SAID = Publication({"toy.events": 7}, "r1")


def written(path: Path, commits: int) -> str:
    """A table of one row a commit, the last of which published."""
    for number in range(commits):
        note = CommitProperties(custom_metadata={"userMetadata": SAID.to_metadata()})
        write_deltalake(path, pa.table({"number": [number]}), mode="append", commit_properties=note)
    return str(path)


def rows(path: str) -> list[int]:
    return sorted(DeltaTable(path).to_pyarrow_table()["number"].to_pylist())


def test_compaction_keeps_the_rows_and_what_was_published(tmp_path: Path) -> None:
    table = written(tmp_path / "gold" / "v", 12)
    done = compact(table)
    assert (done and done.files_after, rows(table), newest(DeltaTable(table))) == (1, list(range(12)), SAID)


def test_a_reader_of_a_few_epochs_need_not_read_all_of_a_compacted_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintain, "GROUP_ROWS", 5)
    table = written(tmp_path / "t", 12)
    compact(table)
    (file,) = DeltaTable(table).file_uris()
    told = pq.read_metadata(file)
    assert [told.row_group(number).num_rows for number in range(told.num_row_groups)] == [5, 5, 2]


def test_few_files_are_left_alone(tmp_path: Path) -> None:
    assert compact(written(tmp_path / "t", 3)) is None


def test_a_vacuum_that_could_break_a_reader_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsafe, match="Keep 168 h or more"):
        vacuum(written(tmp_path / "t", 1), keep_hours=1)


def test_a_vacuum_leaves_versions_of_the_week_readable(tmp_path: Path) -> None:
    table = written(tmp_path / "t", 12)
    compact(table)
    vacuum(table)
    assert DeltaTable(table, version=5).to_pyarrow_table().num_rows == 6


def test_a_drill_restores_a_copy_and_touches_nothing(tmp_path: Path) -> None:
    table = written(tmp_path / "t", 4)
    assert (drill(table, tmp_path / "scratch"), rows(table), (tmp_path / "scratch").exists()) == (
        3,
        [0, 1, 2, 3],
        False,
    )


def test_a_restored_table_that_differs_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(NotRestored):
        _same(DeltaTable(written(tmp_path / "a", 2)), DeltaTable(written(tmp_path / "b", 3)))


def test_every_table_is_found_and_the_smallest_with_a_past_is_drilled(tmp_path: Path) -> None:
    big, small = written(tmp_path / "gold" / "r1" / "big", 9), written(tmp_path / "ledger", 2)
    new = written(tmp_path / "silver", 1)
    assert (list(tables(str(tmp_path))), smallest(str(tmp_path))) == ([big, small, new], small)


def test_a_publication_is_that_of_the_version_that_was_opened(tmp_path: Path) -> None:
    table = written(tmp_path / "t", 2)
    later = CommitProperties(custom_metadata={"userMetadata": Publication({"toy.events": 9}, "r1").to_metadata()})
    write_deltalake(table, pa.table({"number": [9]}), mode="append", commit_properties=later)
    told = [newest(DeltaTable(table, version=version)) for version in (1, 2)]
    assert [said.cut if said else None for said in told] == [{"toy.events": 7}, {"toy.events": 9}]


def test_a_vacuum_spares_what_a_restore_point_names(tmp_path: Path) -> None:
    table = written(tmp_path / "t", 3)
    DeltaTable(table).delete()
    last = Path(table, "_delta_log", f"{DeltaTable(table).version():020}.json")
    last.write_text(re.sub(r'"deletionTimestamp":\d+', '"deletionTimestamp":1', last.read_text()))
    vacuum(table, spared=[1])
    assert DeltaTable(table, version=1).to_pyarrow_table().num_rows == 2
    with pytest.raises(FileNotFoundError):
        DeltaTable(table, version=2).to_pyarrow_table()
