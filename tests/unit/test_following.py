"""A table that is looked at again and again: what came is read, and what is wrong is said each time."""

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError
from deltalake.schema import Field, PrimitiveType

from penstock.engine.commit import Appender, create
from penstock.lake.files import file_list
from penstock.lake.following import Followed, Listed
from penstock.lake.versions import version_file


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(str(tmp_path))


def write(folder: Path) -> None:
    write_deltalake(folder, pa.table({"id": [1]}), mode="append")


def test_a_table_is_found_when_it_has_come_and_followed_from_there(followed: Followed, tmp_path: Path) -> None:
    versions = [followed.look()]
    for new in (2, 0, 1):
        for _ in range(new):
            write(tmp_path)
        versions.append(followed.look())
    assert versions == [-1, 1, 1, 2]


def test_half_a_version_is_an_error_each_time_it_is_looked_at(followed: Followed, tmp_path: Path) -> None:
    write(tmp_path)
    followed.look()
    Path(tmp_path, "_delta_log", version_file(1)).write_text("{ half a com")
    for _ in range(2):
        with pytest.raises(DeltaError):
            followed.look()
    assert followed.version == 0


def test_files_are_listed_as_delta_rs_lists_them_whatever_changes_them(tmp_path: Path) -> None:
    path, day = str(tmp_path / "rows"), date(2026, 3, 1)
    create(path, pa.schema({"id": pa.int64(), "day": pa.date32()}), ("id",))
    listed, appender = Listed(path), Appender(path)

    def append(number: int) -> None:
        appender.append(pa.table({"id": [number], "day": [day]}), "query", number)

    changes: list[Callable[[], object]] = [
        *(partial(append, number) for number in range(4)),
        lambda: DeltaTable(path).optimize.compact(),
        lambda: append(4),
        lambda: DeltaTable(path).delete("id = 1"),
        lambda: DeltaTable(path).alter.add_columns([Field("more", PrimitiveType("string"))]),
        lambda: append(5),
        lambda: DeltaTable(path).restore(2),
        lambda: (append(6), append(7)),
    ]
    for change in changes:
        change()
        table = DeltaTable(path)
        assert listed.look() == table.version()
        told = {file.uri: file.partition for file in file_list(table)}
        assert {file.uri: file.partition for file in listed.files} == told
