"""A table at one version: what a task of Spark is told, so that it opens the same as all others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.schema import PrimitiveType

from penstock.lake.files import File, file_list

TEXT = PrimitiveType("string")


@dataclass(frozen=True)
class Table:
    """`id`: a table that was dropped and made again has the same path, and in time the same version."""

    path: str
    version: int
    id: str


def table(delta: DeltaTable) -> Table:
    """A table as it is opened."""
    return Table(delta.table_uri, delta.version(), str(delta.metadata().id))


def dataset(table: Table, where: str = "") -> ds.Dataset:
    """Its rows. `where`: an SQL condition; files that by the table's log have no such row are left out.

    All 900 files of a table take most of a second to open, so they are opened once a process: a version never changes.

    Texts are read as files have them, each once beside numbers that say where it stands: to spell them out takes longer
    than all else that is read, and to count by them twice as long.
    """
    return _of_files(table, where) if where else _whole(table)


@lru_cache(maxsize=1)
def _whole(table: Table) -> ds.Dataset:
    return _of_files(table, None)


def _of_files(table: Table, where: str | None) -> ds.Dataset:
    delta = opened(table)
    texts = [field.name for field in delta.schema().fields if field.type == TEXT]
    told = ds.ParquetReadOptions(dictionary_columns=texts)
    return delta.to_pyarrow_dataset(parquet_read_options=told, file_pruning_predicate=where)


# A build reads silver, and sessions beside it.
@lru_cache(maxsize=2)
def opened(table: Table) -> DeltaTable:
    return DeltaTable(table.path, version=table.version)


@lru_cache(maxsize=1)
def files(table: Table) -> Sequence[File]:
    return file_list(opened(table))


def nothing(table: Table) -> pa.Table:
    """No row, in the columns that a dataset has."""
    return dataset(table, "false").schema.empty_table()


def on(days: Iterable[date]) -> str:
    """The condition of a table that is laid out by day, for some of them."""
    return f"day in ({', '.join(repr(str(day)) for day in days)})"


def between(first: date, last: date) -> str:
    """The same of all days from one to another."""
    return f"day >= '{first}' and day <= '{last}'"
