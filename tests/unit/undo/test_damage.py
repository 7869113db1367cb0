"""What was dropped or damaged is found, named, priced, and nothing is written on top of it."""

import shutil
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from toy_lake import MIDNIGHT, QUERY, ToyLake, fact, silver_rows

from penstock.engine import checkpoints
from penstock.engine.archive import BRONZE, INDEXED
from penstock.engine.candidate import save
from penstock.engine.checkpoints import heal, places
from penstock.engine.commit import Appender, create
from penstock.engine.damage import Gone, broken, damages, refuse_gone
from penstock.engine.gaps import unbooked
from penstock.engine.mending import written
from penstock.engine.pinning import take
from penstock.engine.rebooking import rebooked
from penstock.engine.shape import Shape
from penstock.lake.ledger import LEDGER, booked
from penstock.lake.local import Local
from penstock.lake.releases import READY, Release, say
from penstock.model.view import Tally

SILVER = "silver/r1/toy.events"
# No log answers here.
NOWHERE = "127.0.0.1:1"


@pytest.fixture
def whole(lake: ToyLake) -> ToyLake:
    """A lake with bronze and a restore point."""
    path = lake.layout.bronze("toy.events")
    create(path, BRONZE, INDEXED)
    kept = ("partition", "offset", "day")
    rows = [
        {**{name: row[name] for name in kept}, "timestamp": row["logged_at"], "value": b"{}", "epoch": 0}
        for row in lake.facts().to_pylist()
    ]
    Appender(path).append(pa.Table.from_pylist(rows, BRONZE), "the-archive-query", 0)
    for each in places(lake.layout, "toy.events", "r1"):
        heal(each)
    take(lake.layout, "hand", "test", "all is well")
    return lake


def found(lake: ToyLake, deep: bool = False) -> dict[str, str]:
    return {each.table: each.told for each in damages(lake.layout, NOWHERE, deep)}


def test_nothing_is_wrong_with_a_whole_lake(whole: ToyLake) -> None:
    assert found(whole, deep=True) == {}


@pytest.mark.parametrize(("column", "wrong"), [("day", MIDNIGHT.date() - timedelta(days=1)), ("width", "1 day")])
def test_rows_of_gold_in_the_file_of_another_day_or_width_are_found(whole: ToyLake, column: str, wrong: object) -> None:
    tally = next(view for view in whole.domain.views if isinstance(view, Tally))
    rows = Local(whole.facts()).partials(tally)
    gold = whole.layout.gold("r1", tally.name)
    save(rows, gold)
    assert found(whole, deep=True) == {}
    shutil.rmtree(gold)
    said = pa.array([wrong] * rows.num_rows, rows.schema.field(column).type)
    save(rows.set_column(rows.column_names.index(column), column, said), gold)
    assert found(whole) == {}
    # At midnight a minute begins as its day does.
    strange = [at for at in rows["bucket"].to_pylist() if column == "day" or at.hour or at.minute]
    assert strange
    told = f"has {len(strange)} rows in files of another day or width"
    assert found(whole, deep=True) == {f"gold/r1/{tally.name}": told}


@pytest.mark.parametrize("name", ["archive/toy.events", "shape/toy.events/r1"])
def test_a_deleted_checkpoint_is_found_and_its_table_is_not_blamed(whole: ToyLake, name: str) -> None:
    shutil.rmtree(Path(whole.layout.root, "checkpoints", name))
    (damage,) = damages(whole.layout, NOWHERE)
    assert (damage.table, damage.told) == (f"checkpoints/{name}", "lost")
    assert damage.mend == "penstock checkpoints rebuild --release r1"


def test_a_dropped_silver_is_found_and_its_stream_does_not_begin_again_below_the_cuts(whole: ToyLake) -> None:
    shutil.rmtree(whole.layout.silver("r1", "toy.events"))
    assert found(whole) == {SILVER: "is gone"}
    with pytest.raises(Gone, match=f"penstock rebuild {SILVER}"):
        Shape(whole.domain.sources[0], whole.layout, "r1").prepare()


def test_a_silver_that_a_killed_rebuild_has_only_made_is_as_good_as_gone(whole: ToyLake) -> None:
    path = whole.layout.silver("r1", "toy.events")
    shutil.rmtree(path)
    create(path, whole.facts().schema, ("partition", "offset", "epoch", "happened_at", "logged_at"))
    assert found(whole) == {SILVER: "is empty"}
    with pytest.raises(Gone, match=f"penstock rebuild {SILVER}"):
        Shape(whole.domain.sources[0], whole.layout, "r1").prepare()


@pytest.mark.parametrize("epochs", [0, 1])
def test_a_silver_that_no_record_came_to_yet_is_no_damage_although_a_point_names_it(lake: ToyLake, epochs: int) -> None:
    source, release = lake.domain.sources[0], "r2"
    path = lake.layout.silver(release, source.name)
    say(lake.layout, Release("toy", release, READY))
    create(path, lake.facts().schema, ("partition", "offset"))
    for epoch in range(epochs):
        Appender(path).append(lake.facts().slice(0, 0), QUERY, epoch)
    point = take(lake.layout, "daily", "test", "before the first record")
    silver = f"silver/{release}/{source.name}"
    assert silver in point.tables
    refuse_gone(lake.layout, release, source)
    assert silver not in found(lake)


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


def test_every_flipped_byte_of_a_page_is_found(tmp_path: Path) -> None:
    rows = pa.table({"text": [sha256(bytes([seed])).hexdigest() for seed in range(10)], "number": range(10)})
    create(str(tmp_path), rows.schema, ("number",))
    Appender(str(tmp_path)).append(rows, "test", 0)
    (file,) = tmp_path.glob("*.parquet")
    whole, chunk = file.read_bytes(), pq.read_metadata(file).row_group(0).column(0)
    assert broken(str(tmp_path), True) == []
    # A page's own bytes: not all that stands in the header before them matters.
    end = chunk.data_page_offset
    for at in range((chunk.dictionary_page_offset + end) // 2, end):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert broken(str(tmp_path), True) == [file.name], at


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


def test_a_hole_that_an_operator_accepted_is_not_told_again(tmp_path: Path) -> None:
    ledger, hour = str(tmp_path / "ledger"), datetime(2026, 11, 18, 9, tzinfo=UTC)
    create(ledger, LEDGER, ("hour",))
    entry = {"source": "toy.events", "stage": "lost", "hour": hour, "reason": "retention", "records": 5}
    Appender(ledger).append(pa.Table.from_pylist([entry], LEDGER), "lost/toy.events/0", 15)
    holes = [(0, 10, 15), (0, 3, 4), (0, 20, 25), (1, 10, 15)]
    assert unbooked(ledger, "toy.events", holes) == holes[1:]


def test_the_rows_of_a_rebuild_are_counted_however_many_epochs_it_took(
    whole: ToyLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "COMMITS", 3)
    path = whole.layout.silver("r1", "toy.events")
    for number in range(5):
        Appender(path).append(silver_rows([fact()], 10 + number, 100 + number), "rebuild", 10 + number)
    assert (written(path, "rebuild"), written(path, QUERY)) == (5, len(whole.facts()))
