"""Sketches of all groups of a column at once: the bytes that DataSketches reads, written by numpy.

Of short buckets most have a value or two, and to make each one's sketch by itself takes longer than all else that a
build does with a fact: docs/decisions/0059. Layouts are those of DataSketches' compact images.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import datasketches as ds
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# 2^12 registers, as Spark's hll_sketch_agg makes by default.
HLL_K = 12
KLL_K = 200
# Visitors recur, in other days too.
REMEMBERED = 1 << 16

Numbers = np.ndarray[Any, Any]
WORD, LONG = np.dtype("<u4"), np.dtype("<u8")

# A coupon: the slot that a value's hash falls in, and the number that the slot's register has at least.
SLOTS, NUMBER_AT = (1 << HLL_K) - 1, 26
# Few coupons are a list; more are a table, which grows when three quarters are taken; more again are registers.
LISTED, TABLED, SMALLEST_TABLE = 7, (24, 48, 96, 192, 384), 5
# What a register of each number adds to a sum that a sketch keeps.
SHARES = np.exp2(-np.arange(64.0))
# The first two words of each way.
LIST, TABLE, REGISTERS = (0x0C070102, 0x08000803), (0x0C070103, 0x09000800), (0x0C07010A, 0x0A001800)
NO_COUPON = 0x0400

# The first word of a sketch of no number, of one, and of so few that all are kept; then what all have.
NONE_ONE_FEW = np.array([0x010F0102, 0x040F0202, 0x000F0105], WORD)
KLL, ONE_LEVEL = KLL_K | 8 << 16, KLL_K | 1 << 16


@dataclass(frozen=True)
class Groups:
    """The values of many rows, one row's after another's: the row of each value, and how many each row has."""

    rows: Numbers
    counts: Numbers

    @property
    def first(self) -> Numbers:
        """Which value is each row's first."""
        return np.cumsum(self.counts) - self.counts

    def within(self) -> Numbers:
        """Of each value, how many of its row's stand before it."""
        return np.arange(len(self.rows)) - self.first[self.rows]

    def each(self, values: Numbers, chosen: Numbers, made: Callable[[Numbers], Numbers]) -> dict[int, Numbers]:
        """What is made of the values of the rows that are chosen."""
        ends = np.cumsum(self.counts)
        return {row: made(values[ends[row] - self.counts[row] : ends[row]]) for row in np.flatnonzero(chosen).tolist()}


@dataclass(frozen=True)
class Images:
    """The words of all rows' sketches, one after another."""

    words: Numbers
    starts: Numbers
    sizes: Numbers

    @classmethod
    def laid_out(cls, sizes: Numbers, made: dict[int, Numbers]) -> "Images":
        """Room for sketches of these sizes, and those that are made already."""
        sizes[list(made)] = [len(image) for image in made.values()]
        images = cls(np.zeros(sizes.sum(), WORD), np.cumsum(sizes) - sizes, sizes)
        for row, image in made.items():
            images.words[images.starts[row] :][: len(image)] = image
        return images

    def put(self, places: Numbers, numbers: Numbers) -> None:
        """Numbers of two words each."""
        self.words[places], self.words[places + 1] = numbers.view(WORD).reshape(-1, 2).T

    def column(self, lists: pa.ListArray) -> pa.Array:
        """As many as there are lists; null where there is none."""
        ends = np.concatenate([[0], np.cumsum(4 * self.sizes)]).astype(np.int32)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(self.words)]
        column = pa.Array.from_buffers(pa.binary(), len(lists), buffers)
        return pc.if_else(lists.is_valid(), column, None) if lists.null_count else column


@lru_cache(REMEMBERED)
def coupon(value: str | None) -> int:
    """What a sketch of distinct values keeps of one; nought of what it does not count."""
    sketch = ds.hll_sketch(HLL_K, ds.HLL_8)
    if value is not None:
        sketch.update(value)
    return int.from_bytes(bytes(sketch.serialize_compact())[8:12], "little")


def coupons(values: pa.Array) -> pa.Array:
    return pa.array(map(coupon, values.to_pylist()), pa.uint32())


def hll(lists: pa.ListArray) -> pa.Array:
    """The sketch of each row's coupons: the same bytes in whatever order they came."""
    groups, found = _distinct(lists)
    counts = groups.counts
    listed, few = counts <= LISTED, counts <= TABLED[-1]
    heads = np.where(listed, 2, 3)
    images = Images.laid_out(heads + counts, groups.each(found, ~few, _registers))
    words, starts = images.words, images.starts
    tables = TABLE[1] | SMALLEST_TABLE + np.searchsorted(TABLED, counts)
    lists_of = LIST[1] | counts << 16 | np.where(counts, 0, NO_COUPON)
    words[starts[few]] = np.where(listed, LIST[0], TABLE[0])[few]
    words[starts[few] + 1] = np.where(listed, lists_of, tables)[few]
    words[starts[few & ~listed] + 2] = counts[few & ~listed]
    own = few[groups.rows]
    words[((starts + heads)[groups.rows] + groups.within())[own]] = found[own]
    return images.column(lists)


def kll(lists: pa.ListArray) -> pa.Array:
    """The sketch of the ranks of each row's numbers."""
    rows, values = _flat(lists)
    there = ~np.isnan(values)
    groups, values = _groups(rows[there], len(lists)), values[there]
    counts = groups.counts
    few = counts <= KLL_K
    more = few & (counts > 1)
    images = Images.laid_out(2 * counts + np.where(counts > 1, 10, 2), groups.each(values, ~few, _ranks))
    words, starts = images.words, images.starts
    words[starts[few]], words[starts[few] + 1] = NONE_ONE_FEW[np.minimum(counts, 2)][few], KLL
    for place, word in ((2, counts[more]), (4, ONE_LEVEL), (5, KLL_K - counts[more])):
        words[starts[more] + place] = word
    for place, least_or_most in ((6, np.minimum), (8, np.maximum)):
        images.put(starts[more] + place, least_or_most.reduceat(values, groups.first[counts > 0])[more[counts > 0]])
    own = few[groups.rows]
    # The last that came stands first.
    images.put(((starts + images.sizes - 2)[groups.rows] - 2 * groups.within())[own], values[own])
    return images.column(lists)


def _registers(found: Numbers) -> Numbers:
    """A sketch with a register for each slot, which says that it does not know in which order values came."""
    registers = np.zeros(1 << HLL_K, np.uint8)
    # In order, so that the largest number of a slot comes last.
    registers[found & SLOTS] = found >> NUMBER_AT
    slots = np.bincount(registers, minlength=len(SHARES))
    sums = np.array([0, slots[:32] @ SHARES[:32], slots[32:] @ SHARES[32:]])
    head = np.array(REGISTERS, WORD), sums.view(WORD), np.array([slots[0], 0], WORD)
    return np.concatenate([*head, registers.view(WORD)])


def _ranks(values: Numbers) -> Numbers:
    sketch = ds.kll_doubles_sketch(KLL_K)
    sketch.update(values)
    return np.frombuffer(sketch.serialize(), WORD)


def _distinct(lists: pa.ListArray) -> tuple[Groups, Numbers]:
    """Each row's coupons once, in order."""
    rows, found = _flat(lists)
    # A row and a coupon are one number.
    each = np.sort((rows.astype(LONG) << 32 | found)[found != 0])
    each = each[np.diff(each, prepend=LONG.type(0)) != 0]
    return _groups((each >> 32).astype(np.int64), len(lists)), each.astype(WORD)


def _flat(lists: pa.ListArray) -> tuple[Numbers, Numbers]:
    """The row of each value, and the values."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    return np.repeat(np.arange(len(lists)), lengths), lists.flatten().to_numpy(zero_copy_only=False)


def _groups(rows: Numbers, number: int) -> Groups:
    return Groups(rows, np.bincount(rows, minlength=number))
