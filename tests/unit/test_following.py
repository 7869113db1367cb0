"""A table that is looked at again and again: what came is read, and what is wrong is said each time."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from deltalake.exceptions import DeltaError

from penstock.lake.following import Followed
from penstock.lake.names import version_file


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
