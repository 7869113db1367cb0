"""A table at one version: what a task of Spark is told, so that it opens the same as all others."""

from dataclasses import dataclass
from functools import lru_cache

import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.schema import PrimitiveType

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


@lru_cache(maxsize=1)
def dataset(table: Table) -> ds.Dataset:
    """Opened once a process: a version never changes, and one of 900 files takes most of a second to open.

    Texts are read as files have them, each once beside numbers that say where it stands: to spell them out takes longer
    than all else that is read, and to count by them twice as long.
    """
    opened = DeltaTable(table.path, version=table.version)
    texts = [field.name for field in opened.schema().fields if field.type == TEXT]
    return opened.to_pyarrow_dataset(parquet_read_options=ds.ParquetReadOptions(dictionary_columns=texts))
