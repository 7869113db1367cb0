"""Silver: one row a record, with what became of it."""

import re
from functools import cache
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.schema import Field
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from penstock.lake.erasures import ERASED
from penstock.lake.publication import column_names
from penstock.lake.retention import EXPIRED
from penstock.lake.retractions import REASON as RETRACTED
from penstock.model.source import Source

FACT, REJECTED, DUPLICATE = "fact", "rejected", "duplicate"
DISPOSITIONS = (FACT, REJECTED, DUPLICATE)
# Reasons that only the engine can see, whatever a source declares.
ID_COLLISION = "id_collision"
REASONS = (ID_COLLISION, RETRACTED, ERASED, EXPIRED)
# What readers and batch builds skip files by.
INDEXED = ("partition", "offset", "epoch", "happened_at", "logged_at")

MOMENT = pa.timestamp("us", "UTC")
# Moments are of UTC here as everywhere; without a zone a reader would have to guess.
KINDS = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "smallint": pa.int16(),
    "tinyint": pa.int8(),
    "double": pa.float64(),
    "float": pa.float32(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": MOMENT,
    "timestamp_ntz": pa.timestamp("us"),
    "binary": pa.binary(),
}
BEFORE_FACTS = {
    "partition": pa.int32(),
    "offset": pa.int64(),
    "epoch": pa.int64(),
    "event_id": pa.string(),
    "happened_at": MOMENT,
    "received_at": MOMENT,
    "logged_at": MOMENT,
    "day": pa.date32(),
    "disposition": pa.string(),
    "reason": pa.string(),
    "flags": pa.list_(pa.string()),
}
# Last, so that tables from before it can be given it. How far other sources were read: lake/profiles.py.
AFTER_FACTS = {"content_hash": pa.int64(), "raw": pa.binary(), "known": pa.string()}


@cache
def schema(source: Source) -> pa.Schema:
    """The columns of the source's silver tables."""
    facts = ((field.name, arrow(field.type)) for field in source.fields)
    return pa.schema([*BEFORE_FACTS.items(), *facts, *AFTER_FACTS.items()])


def arrow(kind: str) -> pa.DataType:
    """What Spark calls so; of what hardly any field has Spark is asked, which takes a session."""
    named = kind.replace(" ", "").lower()
    outer, _, inner = named.removesuffix(">").partition("<")
    if named in KINDS:
        return KINDS[named]
    if sizes := re.fullmatch(r"decimal\((\d+),(\d+)\)", named):
        return pa.decimal128(*map(int, sizes.groups()))
    if outer == "map":
        return pa.map_(*map(arrow, inner.split(",", 1)))
    if outer == "array":
        return pa.list_(arrow(inner))
    return to_arrow_schema(cast(StructType, StructType.fromDDL(f"it {kind}")), timezone="UTC").field(0).type


def widen(path: str) -> None:
    """Gives a table that was made by an earlier version the columns that came since."""
    table = DeltaTable(path)
    there = column_names(table)
    lacking = [pa.field(name, kind) for name, kind in AFTER_FACTS.items() if name not in there]
    if lacking:
        table.alter.add_columns([Field.from_arrow(each) for each in lacking])


def forgotten(source: Source) -> tuple[str, ...]:
    """The columns that say nothing of an erased record: that there was one, and when it was logged, is what is left."""
    return ("happened_at", "flags", "content_hash", "raw", *(field.name for field in source.fields))


# What is left of a row whose day has expired: that there was a record, when it was logged, and what became of it.
LEFT = ("partition", "offset", "epoch", "received_at", "logged_at", "day", "disposition", "reason", "flags", "known")


def facts(rows: pa.Table) -> pa.Table:
    """The facts among rows of silver."""
    return rows.filter(pc.equal(rows["disposition"], FACT))
