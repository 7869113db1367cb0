"""Reads each file of the lake once: Delta files never change, so what was read stays true."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock
from typing import Any

import pyarrow as pa

from penstock.lake.files import File
from penstock.lake.place import rows as stored

# Enough for the day-wide rows of years and the minutes of some weeks.
BUDGET = 512 * 1024 * 1024


class Held:
    """Tables by their names, each made once; the least recently used are forgotten when the budget is spent."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._held: OrderedDict[Hashable, pa.Table] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        # Who asks for what another is making waits for it. A few locks serve all names.
        self._making = [Lock() for _ in range(64)]

    def get(self, name: Hashable, make: Callable[[], pa.Table]) -> pa.Table:
        found = self._find(name)
        if found is not None:
            return found
        with self._making[hash(name) % len(self._making)]:
            found = self._find(name)
            return self._keep(name, make()) if found is None else found

    def _find(self, name: Hashable) -> pa.Table | None:
        with self._lock:
            if name in self._held:
                self._held.move_to_end(name)
            return self._held.get(name)

    def _keep(self, name: Hashable, rows: pa.Table) -> pa.Table:
        with self._lock:
            self._held[name] = rows
            self._bytes += rows.nbytes
            while self._bytes > self._budget and len(self._held) > 1:
                self._bytes -= self._held.popitem(last=False)[1].nbytes
        return rows


class Files:
    """The rows of files, by where they are."""

    def __init__(self) -> None:
        self._held = Held()

    def read(self, file: File) -> pa.Table:
        """The rows of a file, with the partition values that only its path has."""
        return self._held.get(file.uri, lambda: _with_partition(stored(file.uri), file.partition))


def together(tables: Sequence[pa.Table]) -> pa.Table | None:
    """Tables of one view as one; a column that an older file lacks is null there."""
    return pa.concat_tables(tables, promote_options="permissive") if tables else None


def _with_partition(rows: pa.Table, partition: Mapping[str, Any]) -> pa.Table:
    for name, value in partition.items():
        if name not in rows.column_names:
            kind = pa.date32() if name == "day" else pa.string()
            rows = rows.append_column(pa.field(name, kind), pa.array([value] * rows.num_rows, kind))
    return rows
