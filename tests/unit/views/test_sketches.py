"""DuckDB's functions for sketches of values give, row by row, what DataSketches gives for the row's list."""

from collections.abc import Callable, Iterable
from typing import Any

import datasketches as ds
import numpy as np
import pyarrow as pa
import pytest
from laws import asked

from penstock.lake import sketches, sketching


def hll(values: Iterable[str | None]) -> bytes:
    sketch = ds.hll_sketch(sketching.HLL_K, ds.HLL_8)
    for value in values:
        if value is not None:
            sketch.update(value)
    return bytes(sketch.serialize_compact())


def kll(values: Iterable[float | None]) -> bytes:
    sketch = ds.kll_doubles_sketch(sketching.KLL_K)
    for value in values:
        if value is not None:
            sketch.update(value)
    return bytes(sketch.serialize())


def coupons(lists: list[list[str | None] | None]) -> list[list[int] | None]:
    return [None if each is None else [sketching.coupon(value) for value in each] for each in lists]


TEXTS: list[list[str | None] | None] = [["a"], ["b", "a", "b"], None, [], [None], ["a", None], ["a"], ["c", "d"], [""]]
NUMBERS = [[1.5], [2.0, 1.5], None, [], [None], [1.5, None], [1.5], [float("nan"), 3.0], [*map(float, range(200))]]
GIVEN: dict[str, tuple[list[Any], list[Any], pa.DataType, Callable[[Any], bytes]]] = {
    "hll_sketch": (TEXTS, coupons(TEXTS), pa.uint32(), lambda values: hll(sorted(values, key=sketching.coupon))),
    "theta_sketch": (TEXTS, TEXTS, pa.string(), sketches.theta_sketch),
    "top_sketch": (TEXTS, TEXTS, pa.string(), sketches.top_sketch),
    "kll_sketch": (NUMBERS, NUMBERS, pa.float64(), kll),
}


@pytest.mark.parametrize("name", sorted(GIVEN))
def test_each_row_has_the_sketch_of_its_own_values(name: str) -> None:
    lists, given, kind, build = GIVEN[name]
    rows = pa.table({"place": range(len(lists)), "values": pa.array(given, pa.list_(kind))})
    # What DuckDB hands on of a filtered table begins somewhere in the middle.
    told = asked(f"select {name}(values) as sketch from rows where place > 0 order by place", rows)  # noqa: S608
    assert told["sketch"].to_pylist() == [None if each is None else build(each) for each in lists[1:]]


# Around the numbers at which a sketch keeps its coupons in another way, or in a larger table.
SIZES = [0, 1, 7, 8, 24, 25, 48, 49, 96, 97, 192, 193, 384, 385, 5000]
VALUES: list[list[str | None] | None] = [[f"v{number}" for number in range(size)] for size in SIZES]
OUT_OF_ORDER = 16


def made(lists: list[list[str | None] | None]) -> list[bytes]:
    told: list[bytes] = sketching.hll(pa.array(coupons(lists), pa.list_(pa.uint32()))).to_pylist()
    return told


def test_a_sketch_of_distinct_values_holds_what_datasketches_holds() -> None:
    """Up to 384 coupons in some order; then registers, beside a number that depends on how values came."""
    for values, sketch in zip(VALUES, made(VALUES), strict=True):
        own = hll(values or ())
        if len(values or ()) <= sketching.TABLED[-1]:
            assert sorted(np.frombuffer(sketch, "<u4")) == sorted(np.frombuffer(own, "<u4"))
        else:
            assert (sketch[5], sketch[16:]) == (own[5] | OUT_OF_ORDER, own[16:])


def test_a_sketch_of_distinct_values_is_the_same_in_whatever_order_and_however_often_they_came() -> None:
    again = [[*reversed(values or ()), *(values or ())] for values in VALUES]
    assert made(again) == made(VALUES)


def test_what_is_counted_is_what_datasketches_counts_alone_and_with_others() -> None:
    others = hll(f"v{number}" for number in range(3000, 4000))
    for values, sketch in zip(VALUES, made(VALUES), strict=True):
        own = hll(values or ())
        assert sketches.hll_estimate(sketch) == sketches.hll_estimate(own)
        both = [sketches.hll_union([each, others]) for each in (sketch, own)]
        assert sketches.hll_estimate(both[0]) == sketches.hll_estimate(both[1])


def test_ranks_of_more_numbers_than_are_kept_are_within_the_published_error() -> None:
    many = np.random.default_rng(5).permutation(10_000).astype(float)
    few, sketch = sketching.kll(pa.array([[1.0], many.tolist()], pa.list_(pa.float64()))).to_pylist()
    assert few == kll([1.0])
    assert sketches.kll_quantile(sketch, 0.5) == pytest.approx(5000, abs=2 * 133)
