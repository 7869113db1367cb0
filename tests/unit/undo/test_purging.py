"""A file of silver's past is rewritten in place: others' rows as they were, its length too."""

from pathlib import Path

import duckdb
import pyarrow.compute as pc
from deltalake import DeltaTable
from toy_lake import ToyLake, fact, silver_rows

from penstock.engine.pinning import take
from penstock.engine.purging import redacted, stretched, vacuumed, written
from penstock.lake.files import file_list
from penstock.lake.place import place
from penstock.lake.restore_points import pinned


def length(uri: str) -> int | None:
    folder, _, name = uri.rpartition("/")
    return place(folder).length(name)


def test_who_was_erased_says_nothing_in_an_old_version_any_more(lake: ToyLake) -> None:
    path = lake.layout.silver("r1", "toy.events")
    point = take(lake.layout, "hand", "test", "before")
    table = DeltaTable(path)
    before = {file.uri: length(file.uri) for file in file_list(table)}
    table.delete("who = 'ann'")
    named = lake.facts().filter(pc.equal(lake.facts()["who"], "ann")).select(["partition", "offset"])
    vacuumed(path, pinned(lake.layout, [point], path))
    redacted(path, pinned(lake.layout, [point], path), named, "toy.events")
    old = DeltaTable(path, version=point.tables["silver/r1/toy.events"].version).to_pyarrow_table()
    rows = old.sort_by("offset").to_pylist()
    assert [row["who"] for row in rows] == [None, "bob", None]
    assert [row["reason"] for row in rows] == ["erased", None, "erased"]
    assert {uri: length(uri) for uri in before} == before


def test_a_stretched_file_is_read_as_it_was(tmp_path: Path) -> None:
    rows = silver_rows([fact("ann"), fact("bob")], 0, 0)
    content = written(rows, 3)
    (tmp_path / "rows.parquet").write_bytes(stretched(content, len(content) + 4321))
    assert duckdb.sql(f"from '{tmp_path}/rows.parquet'").to_arrow_table().column("who").to_pylist() == ["ann", "bob"]


def test_a_vacuum_of_all_that_is_past_takes_what_a_crash_left(lake: ToyLake) -> None:
    path = Path(lake.layout.silver("r1", "toy.events"))
    day = next(path.glob("day=*"))
    for name in ("part-of-nothing.parquet", "_damaged-1-part.parquet"):
        (day / name).write_bytes(b"ann")
    vacuumed(str(path))
    assert [file.name for file in day.iterdir() if file.read_bytes() == b"ann"] == []
