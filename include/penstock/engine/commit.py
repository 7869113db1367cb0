"""Commits an epoch's rows to a Delta table from Arrow, once, whoever asks how often.

delta-rs publishes a version with link(2), as our own LogStore does, so both write to one table. A commit takes
about 15 ms, where Spark's takes half a second: docs/decisions/0040.
"""

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Transaction
from deltalake.transaction import AddAction

from penstock.lake.place import place, write_parquet
from penstock.lake.stats import statistics

# Log checkpoints are made beside the epochs, not inside them: engine/upkeep.py.
NO_HOOKS = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)
# Appends conflict in nothing but the version's number, which is soon found.
RETRIES = 100


def create(path: str, schema: pa.Schema, indexed: tuple[str, ...]) -> None:
    """Makes the table if there is none. Readers skip files by the `indexed` columns."""
    DeltaTable.create(
        path,
        schema,
        mode="ignore",
        partition_by=partitioned(schema),
        configuration={"delta.dataSkippingStatsColumns": ",".join(indexed), "delta.checkpointInterval": "100"},
    )


class Appender:
    """Appends epochs to one table that is partitioned by day."""

    def __init__(self, path: str) -> None:
        self._folder = place(path)
        self._table = DeltaTable(path)
        self._indexed = self._table.metadata().configuration["delta.dataSkippingStatsColumns"].split(",")

    def committed(self, app: str) -> int:
        """The last epoch that this query committed here; -1 when there is none."""
        self._table.update_incremental()
        version = self._table.transaction_version(app)
        return -1 if version is None else version

    def append(self, rows: pa.Table, app: str, epoch: int, **note: Any) -> bool:
        """Commits the rows as the query's epoch. False: they are already there, and nothing was written."""
        if self.committed(app) >= epoch:
            return False
        self._table.create_write_transaction(
            [self._write(day, of_day) for day, of_day in by_day(rows)],
            "append",
            self._table.schema(),
            partitioned(rows.schema),
            post_commithook_properties=NO_HOOKS,
            commit_properties=CommitProperties(
                # From this a lost checkpoint is rebuilt: engine/checkpoints.py.
                # Blind: a MERGE that runs meanwhile need not read what was appended (Spark's word for it).
                custom_metadata={"penstock": {"query": app, "epoch": epoch, **note}, "isBlindAppend": True},
                max_commit_retries=RETRIES,
                app_transactions=[Transaction(app, epoch)],
            ),
        )
        return True

    def _write(self, day: str | None, rows: pa.Table) -> AddAction:
        name = f"day={day}/part-{uuid.uuid4()}.parquet" if day else f"part-{uuid.uuid4()}.parquet"
        content = pa.BufferOutputStream()
        write_parquet(rows, content, compression="zstd", write_statistics=self._indexed)
        size = self._folder.write(name, content.getvalue())
        kept = statistics(rows, self._indexed)
        return AddAction(name, size, {"day": day} if day else {}, int(time.time() * 1000), True, kept)


class Tables(dict[str, Appender]):
    """The tables that a stream appends to: opened once, for to open one is to read its log."""

    def of(self, path: str, schema: pa.Schema, indexed: tuple[str, ...]) -> Appender:
        if path not in self:
            create(path, schema, indexed)
            self[path] = Appender(path)
        return self[path]


def partitioned(schema: pa.Schema) -> list[str]:
    """Tables with days are laid out by day; the few small ones without are not."""
    return ["day"] if "day" in schema.names else []


def by_day(rows: pa.Table) -> Iterator[tuple[str | None, pa.Table]]:
    """The rows of each day without the day itself, which Delta keeps in the file's path."""
    if "day" not in rows.schema.names:
        yield None, rows
        return
    for day in pc.unique(rows["day"]):
        yield str(day), rows.filter(pc.equal(rows["day"], day)).drop_columns("day")
