"""DataSketches as DuckDB functions: the bytes that Spark wrote are merged and shown here."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import datasketches as ds
import duckdb
import pyarrow as pa

from penstock.lake import sketching
from penstock.lake.sketching import HLL_K, KLL_K

# Nominal entries 2^12, as Spark's theta_sketch_agg makes by default.
THETA_K = 12
TOP_MAP = 11  # room for 1,024 items at the load that Spark sizes its map for

# Of short buckets most have one value, and values recur. 10 MB.
REMEMBERED = 1 << 16

Function = Callable[..., Any]
_HLL_MODE = 2
_OUT_OF_ORDER = 16


def register(engine: duckdb.DuckDBPyConnection) -> None:
    """Makes the functions that measures use known to a connection."""
    for name, (function, arguments, result) in FUNCTIONS.items():
        engine.create_function(  # type: ignore[call-overload]
            name,
            _by_column(name, function, arguments, result),
            list(arguments),
            result,
            type="arrow",
            null_handling="special",
        )


def _by_column(name: str, function: Function, arguments: tuple[str, ...], result: str) -> Function:
    if name in AT_ONCE:
        return lambda column: function(column.combine_chunks())
    return _by_list(function, result) if name in BUILT else _by_row(function, result, len(arguments))


def _by_row(function: Function, result: str, arity: int) -> Function:
    arrow = _ARROW[result]

    def columns(*arguments: pa.ChunkedArray) -> pa.Array:
        rows = zip(*(argument.to_pylist() for argument in arguments), strict=True)
        return pa.array([None if row[0] is None else function(*row) for row in rows], arrow)

    # DuckDB counts a function's parameters, so it must have as many as there are arguments.
    return columns if arity > 2 else (lambda one: columns(one)) if arity == 1 else (lambda one, two: columns(one, two))


def _by_list(function: Function, result: str) -> Function:
    """For sketches of values: to make a list of Python's for each row takes longer than the sketch of a few values."""
    arrow = _ARROW[result]

    @lru_cache(REMEMBERED)
    def of_one(value: Any) -> Any:
        return function((value,))

    def of_each(lists: pa.ListArray) -> Iterator[Any]:
        ends = lists.offsets.to_pylist()
        start, values = ends[0], lists.values.slice(ends[0], ends[-1] - ends[0]).to_pylist()
        for there, (first, end) in zip(lists.is_valid().to_pylist(), pairwise(ends), strict=True):
            if not there:
                yield None
            elif end - first == 1:
                yield of_one(values[first - start])
            else:
                yield function(values[first - start : end - start])

    def column(lists: pa.ChunkedArray) -> pa.Array:
        return pa.array([made for chunk in lists.chunks if len(chunk) for made in of_each(chunk)], arrow)

    return column


def hll_union(sketches: Iterable[bytes | None]) -> bytes:
    present = [sketch for sketch in sketches if sketch is not None]
    if len(present) == 1:
        return present[0]
    union = ds.hll_union(HLL_K)
    for sketch in present:
        union.update(ds.hll_sketch.deserialize(sketch))
    return bytes(union.get_result(ds.HLL_8).serialize_compact())


def hll_estimate(sketch: bytes) -> float:
    """The estimate that depends on registers only: the same however the facts were partitioned and merged."""
    if sketch[7] & 3 == _HLL_MODE:
        sketch = sketch[:5] + bytes([sketch[5] | _OUT_OF_ORDER]) + sketch[6:]
    return float(round(ds.hll_sketch.deserialize(sketch).get_estimate()))


def theta_sketch(values: Iterable[str | None] | None) -> bytes:
    return bytes(_updated(ds.update_theta_sketch(THETA_K), values or ()).compact().serialize())


def theta_union(sketches: Iterable[bytes | None]) -> bytes:
    union = ds.theta_union(THETA_K)
    for sketch in sketches:
        if sketch is not None:
            union.update(ds.compact_theta_sketch.deserialize(sketch))
    return bytes(union.get_result().serialize())


def theta_estimate(sketch: bytes) -> float:
    return float(ds.compact_theta_sketch.deserialize(sketch).get_estimate())


def theta_and(left: bytes, right: bytes | None) -> bytes:
    both = ds.theta_intersection()
    both.update(_theta(left))
    both.update(_theta(right))
    return bytes(both.get_result().serialize())


def theta_not(left: bytes, right: bytes | None) -> bytes:
    return bytes(ds.theta_a_not_b().compute(_theta(left), _theta(right)).serialize())


def _theta(sketch: bytes | None) -> Any:
    """A set; one that no file has is empty."""
    return ds.compact_theta_sketch.deserialize(theta_sketch(None) if sketch is None else sketch)


def kll_merge(sketches: Iterable[bytes | None]) -> bytes:
    merged = ds.kll_doubles_sketch(KLL_K)
    for sketch in sketches:
        if sketch is not None:
            merged.merge(ds.kll_doubles_sketch.deserialize(sketch))
    return bytes(merged.serialize())


def kll_quantile(sketch: bytes, rank: float) -> float | None:
    merged = ds.kll_doubles_sketch.deserialize(sketch)
    return None if merged.is_empty() else float(merged.get_quantile(rank))


def top_sketch(values: Iterable[str | None]) -> bytes:
    return bytes(_updated(ds.frequent_strings_sketch(TOP_MAP), values).serialize())


def top_merge(sketches: Iterable[bytes | None]) -> bytes:
    merged = ds.frequent_strings_sketch(TOP_MAP)
    for sketch in sketches:
        if sketch is not None:
            merged.merge(ds.frequent_strings_sketch.deserialize(sketch))
    return bytes(merged.serialize())


def top_items(sketch: bytes, k: int) -> list[dict[str, Any]]:
    """The k most frequent; equal counts are ordered by value, so that plans agree."""
    items = ds.frequent_strings_sketch.deserialize(sketch).get_frequent_items(ds.NO_FALSE_NEGATIVES)
    ranked = sorted(((-count, value) for value, count, *_ in items))[:k]
    return [{"value": value, "count": -count} for count, value in ranked]


def _updated(sketch: Any, values: Iterable[Any]) -> Any:
    for value in values:
        if value is not None:
            sketch.update(value)
    return sketch


_ITEMS = "STRUCT(value VARCHAR, count BIGINT)[]"
_ARROW = {
    "BLOB": pa.binary(),
    "DOUBLE": pa.float64(),
    _ITEMS: pa.list_(pa.struct([("value", pa.string()), ("count", pa.int64())])),
}
FUNCTIONS: dict[str, tuple[Function, tuple[str, ...], str]] = {
    "hll_coupon": (sketching.coupons, ("VARCHAR",), "UINTEGER"),
    "hll_sketch": (sketching.hll, ("UINTEGER[]",), "BLOB"),
    "hll_union": (hll_union, ("BLOB[]",), "BLOB"),
    "hll_estimate": (hll_estimate, ("BLOB",), "DOUBLE"),
    "theta_sketch": (theta_sketch, ("VARCHAR[]",), "BLOB"),
    "theta_union": (theta_union, ("BLOB[]",), "BLOB"),
    "theta_estimate": (theta_estimate, ("BLOB",), "DOUBLE"),
    "theta_and": (theta_and, ("BLOB", "BLOB"), "BLOB"),
    "theta_not": (theta_not, ("BLOB", "BLOB"), "BLOB"),
    "kll_sketch": (sketching.kll, ("DOUBLE[]",), "BLOB"),
    "kll_merge": (kll_merge, ("BLOB[]",), "BLOB"),
    "kll_quantile": (kll_quantile, ("BLOB", "DOUBLE"), "DOUBLE"),
    "top_sketch": (top_sketch, ("VARCHAR[]",), "BLOB"),
    "top_merge": (top_merge, ("BLOB[]",), "BLOB"),
    "top_items": (top_items, ("BLOB", "BIGINT"), _ITEMS),
}
# Given lists; given whole columns.
BUILT = {"theta_sketch", "top_sketch"}
AT_ONCE = {"hll_coupon", "hll_sketch", "kll_sketch"}
