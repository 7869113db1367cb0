"""The archive: every record of a source's log goes to bronze as it is, for ever."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame

from penstock.engine.apart import Task, apart
from penstock.engine.balance import Unbalanced
from penstock.engine.checkpoints import Place, places
from penstock.engine.commit import Files, Tables
from penstock.engine.epoch import Epoch
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.tablelog import Written
from penstock.log.reading import RECORD
from penstock.model.source import Source

BRONZE = pa.schema([*RECORD, pa.field("day", pa.date32()), pa.field("epoch", pa.int64())])
# What replays and the ledger look for: a position, a time of arrival, an epoch.
INDEXED = ("partition", "offset", "timestamp", "epoch")
# Records of an epoch: some 100 MB that a task holds.
FULL = 100_000


@dataclass(frozen=True)
class Archive:
    """One source's way from the log to bronze."""

    source: Source
    layout: Layout
    tables: Tables = field(default_factory=Tables)

    @property
    def place(self) -> Place:
        return places(self.layout, self.source.name, FIRST_RELEASE)[0]

    @property
    def every(self) -> str:
        return "500 milliseconds"

    @property
    def pace(self) -> Mapping[str, str]:
        # Nobody reads bronze that is not yet archived: a replay reads the log instead. So files are fewer and larger,
        # and a backlog still waits for nothing.
        return {"maxOffsetsPerTrigger": str(FULL), "minOffsetsPerTrigger": str(FULL), "maxTriggerDelay": "5s"}

    def prepare(self) -> None:
        self.tables.clear()
        self.tables.of(self.place.table, BRONZE, INDEXED)

    def plan(self, records: DataFrame) -> DataFrame:
        return bronze(records)

    def epoch(self, batch: DataFrame, epoch: Epoch) -> Mapping[str, int]:
        """Writes one epoch of the log to bronze, in one commit."""
        table = self.tables.of(self.place.table, BRONZE, INDEXED)
        if table.committed(epoch.query) >= epoch.number:
            return {}
        with epoch.stage("read"):
            files = written(batch, epoch, table.files)
            rows = whole(sum(file.records for file in files), epoch)
        with epoch.stage("commit"):
            table.add(files, epoch.query, epoch.number, topic=epoch.topic)
        return {"rows": rows}

    def settled(self) -> bool:
        """An archive leaves nothing behind."""
        return True

    def shown(self) -> bool:
        return True

    def check(self) -> None:
        """So there is nothing to look at."""

    def finish(self) -> None:
        """Nor anything to wait for."""


def bronze(batch: DataFrame) -> DataFrame:
    """The log's own columns."""
    return batch.select(*RECORD.names)


def archived(records: pa.Table, epoch: int) -> pa.Table:
    """Records as bronze has them: with the day of their arrival, and their epoch."""
    number = pa.repeat(pa.scalar(epoch, pa.int64()), records.num_rows)
    days = records["timestamp"].cast(RECORD.field("timestamp").type).cast(pa.date32())
    return records.append_column("day", days).append_column("epoch", number).cast(BRONZE)


def written(batch: DataFrame, epoch: Epoch, files: Files) -> list[Written]:
    """The epoch's files; of a large one a task writes them by itself, and only their names come here."""
    if epoch.read is None:
        return files.of(archived(batch.toArrow(), epoch.number))
    # One, for one file: bronze is ahead of silver anyhow.
    tasks = [partial(_written, read, epoch.number, files) for read in epoch.read(1)]
    told = apart(batch.sparkSession, tasks, "file string").toArrow()
    return [Written(**json.loads(file)) for file in told["file"].to_pylist()]


def _written(read: Task, epoch: int, files: Files) -> Iterator[pa.RecordBatch]:
    records = pa.Table.from_batches(read(), RECORD)
    yield pa.record_batch({"file": [json.dumps(asdict(file)) for file in files.of(archived(records, epoch))]})


def whole(rows: int, epoch: Epoch) -> int:
    """The rows of an epoch of bronze, when they are all records that the log has at its offsets."""
    if rows != (records := epoch.expected(rows)):
        raise Unbalanced(f"{records} records in, {rows} rows out. Nothing was committed: the epoch is tried again.")
    return rows
