# ruff: noqa: S608 - the text holds names of files that the table's log names
"""Silver as a relation of DuckDB's: its files as they lie on this machine's disk, else by Arrow.

DuckDB reads Parquet about three times as fast as it takes the same rows from Arrow: docs/decisions/0082.
"""

import duckdb
from deltalake import DeltaTable

from penstock.lake.files import file_list
from penstock.lake.publication import column_names

# Of an address: what is elsewhere, what DuckDB takes for a pattern, and what it takes for a partition.
UNFIT = frozenset(":*?[]{}=")


def relation(engine: duckdb.DuckDBPyConnection, name: str, table: DeltaTable) -> None:
    """The table's rows under a name, at the version at which it was opened."""
    if not _of_files(engine, name, table):
        # Of another table that had the name before.
        engine.execute(f"drop view if exists {name}")
        engine.register(name, table.to_pyarrow_dataset())


def _of_files(engine: duckdb.DuckDBPyConnection, name: str, table: DeltaTable) -> bool:
    files = [file.uri.removeprefix("file://") for file in file_list(table)]
    if not files or UNFIT & set(table.table_uri.removeprefix("file://")):
        return False
    listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    engine.execute(
        f"create or replace temp view {name} as select * from read_parquet([{listed}], union_by_name = true, "
        "hive_partitioning = true, hive_types = {'day': date})"
    )
    there = {column for column, *_ in engine.execute(f"describe {name}").fetchall()}
    # A column that no file has yet is known to Delta alone.
    if there >= {*column_names(table)}:
        return True
    engine.execute(f"drop view {name}")
    return False
