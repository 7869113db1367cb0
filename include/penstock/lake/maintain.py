"""Upkeep of Delta tables without a JVM: compaction, the one guarded vacuum, and a drill that restores and compares."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb
from deltalake import DeltaTable, WriterProperties

from penstock.lake.place import Place, place
from penstock.lake.publication import said_again

# Readers hold a version for a query, builds for a build, and people go back for days: nobody for a week.
KEEP_HOURS = 168
FEW_FILES = 8
WHOLE_FILE = 64 * 1024 * 1024
# What readers skip within a file, as large as an epoch of a backlog: a replay looks for epochs, and reads whole groups.
GROUP_ROWS = 100_000
# Builds, closings and lists of the newest facts skip files by it. Times follow it; with them as a second column of a
# Z-order every file would have nearly every epoch.
CLUSTERED = ("epoch",)
# A task may take as much; a larger day is sorted on the disk.
SORTED_IN_MEMORY = 512 * 1024 * 1024


class Unsafe(ValueError):
    """A vacuum was asked for that could take files from under a reader. Nothing was deleted."""


class NotRestored(RuntimeError):
    """A restored table is not what it was. The table itself was not touched."""


@dataclass(frozen=True)
class Done:
    """What upkeep did to one table."""

    table: str
    files_before: int
    files_after: int


def tables(lake: str) -> Iterator[str]:
    """Every Delta table below the root, however deep."""
    yield from _tables(lake.rstrip("/"), place(lake))


def _tables(address: str, folder: Place) -> Iterator[str]:
    if folder.below("_delta_log").there():
        yield address
        return
    for below in folder.folders():
        yield from _tables(f"{address}/{below.name}", below)


def compact(path: str) -> Done | None:
    """Joins small files; the rows are the same. None where there is nothing to gain."""
    table = DeltaTable(path)
    before = len(table.file_uris())
    if before <= FEW_FILES:
        return None
    # The level is delta-rs' own, which it forgets where anything else is asked for.
    how = WriterProperties(compression="ZSTD", compression_level=4, max_row_group_size=GROUP_ROWS)
    table.optimize.compact(
        target_size=WHOLE_FILE, max_concurrent_tasks=1, writer_properties=how, commit_properties=said_again(table)
    )
    return Done(path, before, len(table.file_uris()))


def settle(path: str, day: date, anew: bool) -> None:
    """Makes a day of silver few files, apart from each other by what readers skip files by; the rows are the same.

    Once, when it is closed first: a late fact must not cost its whole day again."""
    table, of_day = DeltaTable(path), [("day", "=", str(day))]
    files = len(table.file_uris(file_pruning_predicate=f"day = '{day}'"))
    if anew and files > 1:
        table.optimize.z_order(
            CLUSTERED, of_day, target_size=WHOLE_FILE, max_concurrent_tasks=1, max_spill_size=SORTED_IN_MEMORY
        )
    elif files > FEW_FILES:
        table.optimize.compact(of_day, target_size=WHOLE_FILE, max_concurrent_tasks=1)


def vacuum(path: str, keep_hours: int = KEEP_HOURS, spared: Sequence[int] = ()) -> int:
    """Deletes files that neither a version of the last `keep_hours` nor a `spared` one needs; returns how many."""
    if keep_hours < KEEP_HOURS:
        raise Unsafe(
            f"A vacuum that keeps {keep_hours} h could break readers and restore points. Keep {KEEP_HOURS} h or more."
        )
    return len(DeltaTable(path).vacuum(retention_hours=keep_hours, dry_run=False, keep_versions=list(spared) or None))


def drill(path: str, scratch: Path) -> int:
    """Restores a copy to the version before the last and compares it with time travel; returns the rows compared."""
    version = DeltaTable(path).version() - 1
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    place(path).copied(place(scratch))
    try:
        copy = DeltaTable(str(scratch))
        copy.restore(version)
        return _same(DeltaTable(path, version=version), copy)
    finally:
        shutil.rmtree(scratch)


def _same(was: DeltaTable, restored: DeltaTable) -> int:
    with duckdb.connect() as memory:
        memory.register("was", was.to_pyarrow_dataset())
        memory.register("restored", restored.to_pyarrow_dataset())
        count = "select count(*) from {}".format
        lost = memory.sql(count("(from was except all from restored)")).fetchall()[0][0]
        rows = [memory.sql(count(name)).fetchall()[0][0] for name in ("was", "restored")]
    if lost or rows[0] != rows[1]:
        raise NotRestored(f"{was.table_uri} at version {was.version()} had {rows[0]} rows, restored {rows[1]}")
    return int(rows[0])


def smallest(lake: str) -> str | None:
    """The table that a drill can afford to copy, of those that have a version before their last."""
    changed = (path for path in tables(lake) if DeltaTable(path).version() > 0)
    return min(((place(path).size(), path) for path in changed), default=(0, None))[1]
