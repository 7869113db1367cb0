"""The night's tasks: what they spare, what they let stand still, and what they miss."""

import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from penstock.lake.layout import Layout
from penstock.lake.releases import READY, SCHEMA, Release, Row, registry, say
from penstock.lake.restore_points import Pin, RestorePoint, keep
from penstock.ops.airflow import upkeep
from penstock.ops.airflow.errors import LakeDamaged
from penstock.settings import Settings

BRONZE = "bronze/web.events"


@pytest.fixture
def layout(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A lake as tasks find it, with three commits of bronze."""
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    layout = Layout(settings.lake)
    for offset in range(3):
        row = {"partition": [0], "offset": [offset], "epoch": [offset]}
        write_deltalake(layout.bronze("web.events"), pa.table(row), mode="append")
    return layout


def test_a_vacuum_spares_the_versions_that_restore_points_name(layout: Layout) -> None:
    path = layout.bronze("web.events")
    keep(layout, RestorePoint("a", datetime.now(UTC), "hand", "lina", "before a try", {BRONZE: Pin(1, "")}))
    DeltaTable(path).delete()
    last = Path(path, "_delta_log", f"{DeltaTable(path).version():020}.json")
    last.write_text(re.sub(r'"deletionTimestamp":\d+', '"deletionTimestamp":1', last.read_text()))
    assert upkeep.vacuum() == 1
    assert DeltaTable(path, version=1).to_pyarrow_table().num_rows == 2
    with pytest.raises(FileNotFoundError):
        DeltaTable(path, version=2).to_pyarrow_table()


def test_releases_that_nobody_read_for_the_set_time_stand_still_and_others_go_on(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_REVERT_DAYS", "2")
    old = Row("web", "r2", READY, code="git abc", at=datetime.now(UTC) - timedelta(days=3))
    write_deltalake(layout.control("releases"), pa.Table.from_pylist([asdict(old)], SCHEMA))
    say(layout, Release("web", "r3", READY, code="git def"))
    assert (upkeep.retire(), registry(layout, "web").kept) == (["web r2"], ["r1", "r3"])


def test_a_whole_lake_is_well(layout: Layout) -> None:
    assert upkeep.examine() == "nothing is missing"


def test_a_file_that_was_removed_is_told_with_what_mends_it(layout: Layout) -> None:
    Path(DeltaTable(layout.bronze("web.events")).file_uris()[0]).unlink()
    with pytest.raises(LakeDamaged, match=f"{BRONZE} has 1 files that cannot be read.*mend: penstock rebuild {BRONZE}"):
        upkeep.examine()


def test_an_offset_that_bronze_lacks_is_told(layout: Layout) -> None:
    DeltaTable(layout.bronze("web.events")).delete('"offset" = 1')
    with pytest.raises(LakeDamaged, match=f"{BRONZE} lacks partition 0 offsets 1 to 1"):
        upkeep.examine()
