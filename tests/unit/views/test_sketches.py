"""DuckDB's functions for sketches of values give, row by row, the bytes that DataSketches gives for the row's list."""

import pyarrow as pa
import pytest
from laws import asked

from penstock.lake import sketches

TEXTS = [["a"], ["b", "a", "b"], None, [], [None], ["a", None], ["a"], ["c", "d"]]
NUMBERS = [[1.5], [2.0, 1.5], None, [], [None], [1.5, None], [1.5]]
GIVEN = {
    "hll_sketch": (TEXTS, pa.string()),
    "theta_sketch": (TEXTS, pa.string()),
    "top_sketch": (TEXTS, pa.string()),
    "kll_sketch": (NUMBERS, pa.float64()),
}


@pytest.mark.parametrize("name", sorted(sketches.BUILT))
def test_each_row_has_the_sketch_of_its_own_values(name: str) -> None:
    lists, kind = GIVEN[name]
    rows = pa.table({"place": range(len(lists)), "values": pa.array(lists, pa.list_(kind))})
    # What DuckDB hands on of a filtered table begins somewhere in the middle.
    told = asked(f"select {name}(values) as sketch from rows where place > 0 order by place", rows)  # noqa: S608
    build = sketches.FUNCTIONS[name][0]
    assert told["sketch"].to_pylist() == [None if each is None else build(each) for each in lists[1:]]
