"""Commits an epoch's rows to a Delta table from Arrow, once, whoever asks how often.

Spark's own commit takes half a second: docs/decisions/0040.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from penstock.lake.place import place, write_parquet
from penstock.lake.stats import statistics
from penstock.lake.tablelog import Entry, Written, log_of


def create(path: str, schema: pa.Schema, indexed: tuple[str, ...]) -> None:
    """Makes the table if there is none. Readers skip files by the `indexed` columns."""
    DeltaTable.create(
        path,
        schema,
        mode="ignore",
        partition_by=partitioned(schema),
        configuration={"delta.dataSkippingStatsColumns": ",".join(indexed), "delta.checkpointInterval": "100"},
    )


@dataclass(frozen=True)
class Files:
    """Rows as files of a table, one a day. Only a commit makes them matter."""

    path: str
    indexed: Sequence[str]

    def of(self, rows: pa.Table) -> list[Written]:
        return [self._write(day, of_day) for day, of_day in by_day(rows)]

    def _write(self, day: str | None, rows: pa.Table) -> Written:
        name = f"day={day}/part-{uuid.uuid4()}.parquet" if day else f"part-{uuid.uuid4()}.parquet"
        content = pa.BufferOutputStream()
        # Positions, moments and hashes seldom recur: without a dictionary for them silver is a fifth smaller.
        texts = [field.name for field in rows.schema if field.type == pa.string()]
        write_parquet(rows, content, compression="zstd", write_statistics=self.indexed, use_dictionary=texts)
        size = place(self.path).write(name, content.getvalue())
        return Written(name, size, {"day": day} if day else {}, statistics(rows, self.indexed))


class Appender:
    """Appends epochs to one table that is partitioned by day."""

    def __init__(self, path: str) -> None:
        table = DeltaTable(path)
        self._log = log_of(path, table)
        self.files = Files(path, table.metadata().configuration["delta.dataSkippingStatsColumns"].split(","))

    def committed(self, app: str) -> int:
        """The last epoch that this query committed here; -1 when there is none."""
        return self._log.committed(app)

    def append(self, rows: pa.Table, app: str, epoch: int, **note: Any) -> bool:
        """Commits the rows as the query's epoch. False: they are already there, and nothing was written."""
        return self.committed(app) < epoch and self.add(self.files.of(rows), app, epoch, **note)

    def follow(self, rows: pa.Table, app: str, after: int, number: int) -> None:
        """Commits what was made of all since `after`, as the next of the application: CommitFailedError where somebody
        else has committed meanwhile what is in these rows too."""
        self._log.append(self.files.of(rows), Entry(app, number, after, {"query": app, "epoch": number}))

    def add(self, files: Sequence[Written], app: str, epoch: int, **note: Any) -> bool:
        """The same of rows that are in the table's folder already."""
        last = self.committed(app)
        if last >= epoch:
            return False
        # From the note a lost checkpoint is rebuilt: engine/checkpoints.py.
        self._log.append(files, Entry(app, epoch, last, {"query": app, "epoch": epoch, **note}))
        return True


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
    days = pc.unique(rows["day"])
    for day in days:
        # Most epochs have one, and to copy all columns takes a third of what it takes to write them.
        of_day = rows if len(days) == 1 else rows.filter(pc.equal(rows["day"], day))
        yield str(day), of_day.drop_columns("day")
