"""Shapes that are functions of Arrow tables: Spark hands them the batches of a task, on whichever machine it runs."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import cast

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from penstock.model.source import Source

# What a shape may ask of a record and its envelope, and what it says beside the source's own columns.
ASKED = {
    "partition": pa.int32(),
    "offset": pa.int64(),
    "value": pa.binary(),
    "timestamp": pa.timestamp("us"),
    "logged_at": pa.timestamp("us"),
    "received_at": pa.timestamp("us"),
    "event_id": pa.string(),
    "user_agent": pa.string(),
    "client_place": pa.string(),
}
TOLD = (
    "partition int, offset bigint, logged_at timestamp, value binary, event_id string, happened_at timestamp,"
    " received_at timestamp, reason string, flags array<string>"
)


def of_tables(source: Source, judge: Callable[[pa.Table], pa.Table]) -> Callable[[DataFrame], DataFrame]:
    """A shape by a pure function of tables, whose moments are UTC's, without a zone: so nobody has to look one up."""
    ddl = f"{TOLD}, {source.ddl()}"

    def shape(records: DataFrame) -> DataFrame:
        told = to_arrow_schema(cast(StructType, StructType.fromDDL(ddl)), timezone="UTC")
        return records.select(*ASKED).mapInArrow(partial(_judged, judge, told), ddl)

    return shape


def _judged(
    judge: Callable[[pa.Table], pa.Table], told: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        records = pa.Table.from_batches([batch]).cast(pa.schema(ASKED))
        yield from judge(records).select(told.names).cast(told).to_batches()
