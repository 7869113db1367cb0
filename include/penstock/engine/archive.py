"""The archive: every record of a source's log goes to bronze as it is, for ever."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.engine.checkpoints import Place, places
from penstock.engine.commit import Tables
from penstock.engine.epoch import Epoch
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.source import Source

HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])
BRONZE = pa.schema(
    {
        "key": pa.binary(),
        "value": pa.binary(),
        "headers": pa.list_(HEADER),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", "UTC"),
        "day": pa.date32(),
        "epoch": pa.int64(),
    }
)
# What replays and the ledger look for: a position, a time of arrival, an epoch.
INDEXED = ("partition", "offset", "timestamp", "epoch")
# Records of an epoch: some 100 MB that pass through the driver.
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
        return "1 second"

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
        with epoch.stage("read"):
            records = batch.toArrow()
            number = pa.repeat(pa.scalar(epoch.number, pa.int64()), records.num_rows)
            records = records.append_column("epoch", number).cast(BRONZE)
        with epoch.stage("commit"):
            table = self.tables.of(self.place.table, BRONZE, INDEXED)
            table.append(records, epoch.query, epoch.number, topic=epoch.topic)
        return {"rows": records.num_rows}

    def check(self) -> None:
        """An archive leaves nothing behind."""

    def finish(self) -> None:
        """Nor has it anything to wait for."""


def bronze(batch: DataFrame) -> DataFrame:
    """The log's own columns and the day of arrival."""
    columns = ("key", "value", "headers", "partition", "offset", "timestamp")
    return batch.select(*columns, F.to_date("timestamp").alias("day"))
