"""Upkeep of Delta tables without a JVM: compaction, the one guarded vacuum, and a drill that restores and compares."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
from deltalake import CommitProperties, DeltaTable

from penstock.lake.publication import newest

# Readers hold a version for a query, builds for a build, and people go back for days: nobody for a week.
KEEP_HOURS = 168
FEW_FILES = 8
WHOLE_FILE = 64 * 1024 * 1024


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


def tables(lake: str) -> Iterator[Path]:
    """Every Delta table below the root, however deep."""
    for log in sorted(Path(lake).rglob("_delta_log")):
        yield log.parent


def compact(path: Path) -> Done | None:
    """Joins small files; the rows are the same. None where there is nothing to gain."""
    table = DeltaTable(str(path))
    before = len(table.file_uris())
    if before <= FEW_FILES:
        return None
    said = newest(table)
    # A publication is found by its commit: a later commit on gold says it again.
    note = CommitProperties(custom_metadata={"userMetadata": said.to_metadata()}) if said else None
    table.optimize.compact(target_size=WHOLE_FILE, max_concurrent_tasks=1, commit_properties=note)
    return Done(str(path), before, len(table.file_uris()))


def vacuum(path: Path, keep_hours: int = KEEP_HOURS) -> int:
    """Deletes files that no version of the last `keep_hours` needs; returns how many."""
    if keep_hours < KEEP_HOURS:
        raise Unsafe(
            f"A vacuum that keeps {keep_hours} h could break readers and restore points. Keep {KEEP_HOURS} h or more."
        )
    return len(DeltaTable(str(path)).vacuum(retention_hours=keep_hours, dry_run=False))


def drill(path: Path, scratch: Path) -> int:
    """Restores a copy to the version before the last and compares it with time travel; returns the rows compared."""
    version = max(DeltaTable(str(path)).version() - 1, 0)
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(path, scratch)
    try:
        copy = DeltaTable(str(scratch))
        copy.restore(version)
        return _same(DeltaTable(str(path), version=version), copy)
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


def smallest(lake: str) -> Path | None:
    """The table that a drill can afford to copy."""
    sized = [(sum(file.stat().st_size for file in path.rglob("*") if file.is_file()), path) for path in tables(lake)]
    return min(sized, default=(0, None))[1]
