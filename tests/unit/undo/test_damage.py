"""What was dropped or damaged is found, named, priced, and nothing is written on top of it."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from toy_lake import QUERY, ToyLake, fact, silver_rows

from penstock.engine.archive import BRONZE, INDEXED
from penstock.engine.commit import Appender, create
from penstock.engine.damage import Gone, damages
from penstock.engine.pinning import take
from penstock.engine.rebooking import rebooked
from penstock.engine.shape import Shape
from penstock.lake.ledger import booked

SILVER = "silver/r1/toy.events"


@pytest.fixture
def whole(lake: ToyLake) -> ToyLake:
    """A lake with bronze and a restore point."""
    path = lake.layout.bronze("toy.events")
    create(path, BRONZE, INDEXED)
    kept = ("partition", "offset", "day", "epoch")
    rows = [
        {**{name: row[name] for name in kept}, "timestamp": row["logged_at"], "value": b"{}"}
        for row in lake.facts().to_pylist()
    ]
    Appender(path).append(pa.Table.from_pylist(rows, BRONZE), "the-archive-query", 0)
    take(lake.layout, "hand", "test", "all is well")
    return lake


def found(lake: ToyLake, deep: bool = False) -> dict[str, str]:
    told = damages(lake.layout, deep)
    return {each.table: each.told for each in told if not each.table.startswith("checkpoints/")}


def test_nothing_is_wrong_with_a_whole_lake(whole: ToyLake) -> None:
    assert found(whole, deep=True) == {}


def test_a_dropped_silver_is_found_and_its_stream_does_not_begin_again_below_the_cuts(whole: ToyLake) -> None:
    shutil.rmtree(whole.layout.silver("r1", "toy.events"))
    assert found(whole) == {SILVER: "is gone"}
    with pytest.raises(Gone, match=f"penstock rebuild {SILVER}"):
        Shape(whole.domain.sources[0], whole.layout, "r1").prepare()


def test_a_dropped_speed_table_is_found_by_the_newest_restore_point(whole: ToyLake) -> None:
    shutil.rmtree(whole.layout.speed("r1", "toy.now"))
    assert found(whole) == {"speed/r1/toy.now": "is gone"}


def test_a_deleted_day_and_a_flipped_bit_are_found(whole: ToyLake) -> None:
    table = DeltaTable(whole.layout.silver("r1", "toy.events"))
    first, second = sorted(Path(uri) for uri in table.file_uris())
    first.unlink()
    assert found(whole) == {SILVER: "has 1 files that cannot be read"}
    content = bytearray(second.read_bytes())
    content[len(content) // 4] ^= 0xFF
    second.write_bytes(content)
    assert found(whole, deep=True) == {SILVER: "has 2 files that cannot be read"}


def test_rows_that_a_commit_deleted_are_counted(whole: ToyLake) -> None:
    DeltaTable(whole.layout.silver("r1", "toy.events")).delete('"offset" = 1')
    assert found(whole) == {SILVER: "lacks 1 records that bronze has"}


def test_a_hole_in_bronze_is_named_by_partition_and_offset(whole: ToyLake) -> None:
    DeltaTable(whole.layout.bronze("toy.events")).delete('"offset" = 1')
    assert found(whole) == {"bronze/toy.events": "lacks partition 0 offsets 1 to 1"}


def test_the_books_of_a_table_that_was_made_anew_say_what_it_holds(whole: ToyLake) -> None:
    rebooked(whole.layout, "toy.events", "r1")
    path = whole.layout.silver("r1", "toy.events")
    shutil.rmtree(path)
    create(path, whole.facts().schema, ("partition", "offset", "epoch", "happened_at", "logged_at"))
    Appender(path).append(silver_rows([fact("ann", 1)], 3, 0), QUERY, 3)
    assert (rebooked(whole.layout, "toy.events", "r1"), rebooked(whole.layout, "toy.events", "r1")) == (1, 0)
    sums, _ = booked(whole.layout.ledger(), "r1")
    assert [row["facts"] for row in sums.values()] == [1]
