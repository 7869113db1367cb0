"""A table as builds and gates open it: the same rows, whoever wrote the files."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake

from penstock.engine import versions

ROWS = pa.table(
    {
        "width": ["1 minute", "1 hour", "1 hour", "1 minute"] * 20,
        "page": ["/x", None, "", "/ÿ"] * 20,
        "each": [f"e{number}" for number in range(80)],
        "flags": [["a"], [], None, ["b", "c"]] * 20,
        "views": range(80),
    }
)


def written(path: str) -> None:
    for number in range(4):
        write_deltalake(path, ROWS.slice(20 * number, 20), mode="append", partition_by=["width"])


def compacted(path: str) -> None:
    written(path)
    DeltaTable(path).optimize.compact()


@pytest.mark.parametrize("write", [written, compacted])
def test_texts_that_are_read_as_numbers_of_a_list_are_the_same_texts(
    write: Callable[[str], None], tmp_path: Path
) -> None:
    write(str(tmp_path))
    table = DeltaTable(str(tmp_path))
    opened = versions.dataset(versions.table(table))
    told = opened.to_table()
    assert pa.types.is_dictionary(told.schema.field("page").type)
    plain = table.to_pyarrow_dataset().to_table()
    assert told.cast(plain.schema).sort_by("views").equals(plain.sort_by("views"))
    assert opened.to_table(["views"], filter=_of("page", "/x") & _of("width", "1 minute")).num_rows == 20


def _of(name: str, text: str) -> pc.Expression:
    return pc.field(name) == text


def test_files_without_such_rows_are_not_opened_and_every_such_row_is_there(tmp_path: Path) -> None:
    written(str(tmp_path))
    table = versions.table(DeltaTable(str(tmp_path)))
    late = versions.dataset(table, "views > 65")
    assert len([*late.get_fragments()]) < len([*versions.dataset(table).get_fragments()])
    assert sorted(late.to_table(filter=pc.field("views") > 65)["views"].to_pylist()) == [*range(66, 80)]
