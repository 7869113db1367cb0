"""The lake's files on a disk; tests/faults/test_object_store.py holds a store to the same."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.fs as fs
import pyarrow.parquet as pq
import pytest

from penstock.lake.place import MOMENT, Place, place, rows


@pytest.fixture
def folder(tmp_path: Path) -> Place:
    here = place(tmp_path / "lake")
    here.write("gold/v/_delta_log/0.json", b"{}")
    here.write("gold/v/day=2026-11-18/part.parquet", b"rows")
    return here


def test_what_was_written_is_read_listed_and_measured(folder: Place) -> None:
    gold = folder.below("gold/v")
    assert (gold.read("_delta_log/0.json"), gold.names(), gold.size()) == (b"{}", ["_delta_log", "day=2026-11-18"], 6)
    assert [(below.name, below.there()) for below in folder.folders()] == [("gold", True)]


def test_a_folder_that_is_not_there_is_empty(folder: Place) -> None:
    nowhere = folder.below("silver")
    assert (nowhere.there(), nowhere.names(), nowhere.size()) == (False, [], 0)
    nowhere.remove()


class MadeMeanwhile:
    """A disk on which somebody makes the folder between the two looks that Arrow takes at one that is not there."""

    def __init__(self) -> None:
        self.looked = 0

    def get_file_info(self, wanted: fs.FileSelector) -> list[fs.FileInfo]:
        self.looked += 1
        if self.looked == 1:
            raise FileNotFoundError(wanted.base_dir)
        return [fs.FileInfo(f"{wanted.base_dir}/v~1", fs.FileType.Directory)]


def test_a_folder_that_is_made_while_somebody_looks_is_there() -> None:
    assert Place(cast(fs.FileSystem, MadeMeanwhile()), "candidate/r1").names() == ["v~1"]


def test_moments_have_their_zone_whoever_wrote_them(tmp_path: Path) -> None:
    at = pa.array([datetime(2026, 11, 19, 8, tzinfo=UTC)], MOMENT)
    for name, how in (("stream", {}), ("spark", {"use_deprecated_int96_timestamps": True})):
        pq.write_table(pa.table({"happened_at": at}), tmp_path / f"{name}.parquet", **how)
    stream, spark = (rows(f"{tmp_path}/{name}.parquet") for name in ("stream", "spark"))
    assert spark == stream == pa.table({"happened_at": at})


def test_a_second_name_is_the_same_file(folder: Place) -> None:
    name = "v/day=2026-11-18/part.parquet"
    folder.below("copy").have(name, folder.below("gold"))
    assert Path(folder.path, "gold", name).samefile(Path(folder.path, "copy", name))


def test_a_folder_moves_whole(folder: Place) -> None:
    folder.below("gold").moved(folder.below("kept"))
    assert (folder.names(), folder.below("kept").size()) == (["kept"], 6)


def test_a_copy_is_apart(folder: Place, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    folder.below("gold").copied(place(tmp_path / "scratch"))
    folder.below("gold").remove()
    assert place(f"file://{tmp_path}/scratch").size() == 6


def test_who_asks_of_the_lake_does_not_load_pandas() -> None:
    loaded = "import sys, penstock.serve.app; print('pandas' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True).strip() == "False"
