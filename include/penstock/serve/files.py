"""Reads each file of the lake once: Delta files never change, so what was read stays true."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import pyarrow as pa

from penstock.lake.files import File
from penstock.lake.place import rows as stored

# Enough for the day-wide rows of years and the minutes of some weeks.
BUDGET = 512 * 1024 * 1024


class Files:
    """The least recently used files are forgotten when the budget is spent."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._held: OrderedDict[str, pa.Table] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def read(self, file: File) -> pa.Table:
        """The rows of a file, with the partition values that only its path has."""
        uri = file.uri
        with self._lock:
            if uri in self._held:
                self._held.move_to_end(uri)
                return self._held[uri]
        rows = _with_partition(stored(uri), file.partition)
        with self._lock:
            if uri not in self._held:
                self._held[uri] = rows
                self._bytes += rows.nbytes
            while self._bytes > self._budget and len(self._held) > 1:
                self._bytes -= self._held.popitem(last=False)[1].nbytes
        return rows


def together(tables: Sequence[pa.Table]) -> pa.Table | None:
    """Tables of one view as one; a column that an older file lacks is null there."""
    return pa.concat_tables(tables, promote_options="permissive") if tables else None


def _with_partition(rows: pa.Table, partition: Mapping[str, Any]) -> pa.Table:
    for name, value in partition.items():
        if name not in rows.column_names:
            kind = pa.date32() if name == "day" else pa.string()
            rows = rows.append_column(pa.field(name, kind), pa.array([value] * rows.num_rows, kind))
    return rows
