"""What `penstock bench ingest` takes for right, and for a rate, of files that somebody wrote."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.ops.bench import ingest
from penstock.ops.load import flink
from penstock.ops.rig import Rig
from penstock.settings import Settings

AT = datetime(2026, 11, 19, tzinfo=UTC)
ROW = {name: AT if "(" in name else "text" for name in ingest.SAID}
ROW = {name.removeprefix("epoch_us(").removesuffix(")"): value for name, value in ROW.items()}


def parquet(folder: Path, *rows: dict[str, Any], name: str = "part-a-0-0") -> str:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist([{**ROW, **row} for row in rows]), folder / name)
    return str(folder / name)


def at(partition: int, offset: int, **fields: Any) -> dict[str, Any]:
    return {"partition": partition, "offset": offset, **fields}


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ([at(0, 0), at(0, 1), at(1, 0)], True),
        ([at(0, 0), at(0, 1)], False),
        ([at(0, 0), at(0, 1), at(0, 1)], False),
        ([at(0, 0), at(0, 1), at(1, 0), at(1, 0)], False),
    ],
    ids=["each once", "one lost", "one lost and one twice", "one twice"],
)
def test_each_record_is_there_once(tmp_path: Path, rows: list[dict[str, Any]], right: bool) -> None:
    assert ingest.once([parquet(tmp_path, *rows)], 3) is right


def test_rows_say_the_same_in_whatever_order_and_files(tmp_path: Path) -> None:
    one = [parquet(tmp_path, at(0, 0, page="/a"), at(0, 1, page="/b"))]
    two = [parquet(tmp_path, at(0, 1, page="/b"), name="b"), parquet(tmp_path, at(0, 0, page="/a"), name="c")]
    assert ingest.said(one) == ingest.said(two)


@pytest.mark.parametrize("name", sorted(ROW))
def test_one_field_that_is_told_otherwise_is_seen(tmp_path: Path, name: str) -> None:
    other = AT.replace(second=1) if ROW[name] == AT else "another"
    one, two = (parquet(tmp_path, at(0, 0, **told), name=str(told)[:9]) for told in ({}, {name: other}))
    assert ingest.said([one]) != ingest.said([two])


def test_the_rows_of_the_first_commit_are_no_part_of_a_rate() -> None:
    assert ingest.rate([(12.0, 300), (10.0, 999), (11.0, 100)]) == 200.0


def test_a_checkpoint_is_one_commit_of_all_tasks_and_hidden_files_are_none(tmp_path: Path) -> None:
    for name, rows in (("part-u-0-0", 1), ("part-u-1-0", 2), ("part-u-0-1", 4), (".part-u-1-1.inprogress.u", 8)):
        parquet(flink.facts(tmp_path), *[at(0, 0)] * rows, name=name)
    assert [rows for _, rows in flink.commits(tmp_path)] == [3, 4]


def test_rows_can_be_read_from_when_their_file_got_its_name(tmp_path: Path) -> None:
    file = Path(parquet(flink.facts(tmp_path), at(0, 0), name=".part"))
    os.utime(file, (0, 0))
    named = file.rename(file.with_name("part-u-0-0"))
    assert flink.commits(tmp_path) == [(named.stat().st_ctime, 1)]


def test_without_flink_the_figure_says_how_to_get_it(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flink, "JARS", tmp_path)
    assert ingest.beside(Rig(settings), 1) == (None, True, {"peer": "Flink is not here: run make flink"})
