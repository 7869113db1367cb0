"""Small append-only tables of control: a row is written once, whoever asks how often, and whoever else writes."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError

from penstock.lake.publication import open_table

RETRIES = 50


def opened(path: str, schema: pa.Schema, **how: Any) -> DeltaTable:
    """The table, made if there is none. Two that make it at once are fine."""
    for _ in range(RETRIES):
        table = open_table(path)
        if table is not None:
            return table
        try:
            DeltaTable.create(path, schema, mode="ignore", **how)
        except CommitFailedError:
            continue
    return DeltaTable(path)


def append(table: DeltaTable, schema: pa.Schema, rows: Sequence[Mapping[str, Any]], app: str, number: int = 0) -> bool:
    """Commits the rows as this transaction on what was read in `table`. False: somebody else did it meanwhile."""
    once = CommitProperties(app_transactions=[Transaction(app, number)])
    try:
        told = pa.Table.from_pylist(list(rows), schema)
        # A table may be older than a column of its schema.
        write_deltalake(table, told, mode="append", schema_mode="merge", commit_properties=once)
    except CommitFailedError:
        return False
    return True


def append_once(path: str, schema: pa.Schema, rows: Sequence[Mapping[str, Any]], app: str, number: int = 0) -> bool:
    """Appends the rows if this transaction never did. False: they are there already."""
    for _ in range(RETRIES):
        table = opened(path, schema)
        if table.transaction_version(app) is not None:
            return False
        if append(table, schema, rows, app, number):
            return True
    raise TimeoutError(f"{path} is written by too many at once: {app} was not recorded; run it again")
