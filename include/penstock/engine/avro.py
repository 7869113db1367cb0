"""Avro records become JSON before a shape sees them, by the schema that each record names.

Fields keep their names, so writers with older and newer schemas are read alike, and what a shape does not know is
kept among the unknown fields, as in JSON. A record whose schema is not known, or which does not follow it, stays as
it is: the shape rejects it as malformed, with its bytes.
"""

import json
from collections.abc import Mapping
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

# Confluent's framing: a zero byte, with which no JSON begins, and the schema's id in four bytes.
FRAME_BYTES = 5
# Each schema is a branch of the plan. Writers that are more versions behind are rejected, not lost.
MOST_SCHEMAS = 20


def as_json(records: DataFrame, schemas: Mapping[int, str]) -> DataFrame:
    """Records with JSON for the Avro that can be read. Without schemas nothing is added to the plan."""
    value = told = F.col("value")
    for number in sorted(schemas)[-MOST_SCHEMAS:]:
        if readable(schemas[number]):
            framed = F.substring(value, 1, FRAME_BYTES) == F.lit(bytes([0, *number.to_bytes(4, "big")]))
            told = F.when(framed, F.coalesce(document(schemas[number]), value)).otherwise(told)
    return records.withColumn("value", told) if schemas else records


def named(values: pa.ChunkedArray) -> set[int]:
    """The ids that framed records among these name. What a plan has read is framed no more."""
    framed = values.filter(pc.starts_with(values, pattern="\0"))
    return {int.from_bytes(number, "big") for number in pc.unique(pc.binary_slice(framed, 1, FRAME_BYTES)).to_pylist()}


def document(schema: str) -> Column:
    """The JSON of a framed record; null where it does not follow the schema."""
    fields = from_avro(F.expr(f"substring(value, {FRAME_BYTES + 1})"), schema, {"mode": "PERMISSIVE"})
    # Spark reads what does not follow the schema as a record without any field.
    return F.nullif(F.to_json(fields), F.lit("{}")).cast("binary")


@cache
def readable(schema: str) -> bool:
    """Whether Spark can read records of a schema. Anyone may register one; it must not stop a stream."""
    told = json.loads(schema)
    if not isinstance(told, dict) or told.get("type") != "record":
        return False
    try:
        SparkSession.active().sql("select cast(null as binary) as value").select(document(schema)).schema  # noqa: B018
    except (PySparkException, Py4JJavaError):
        return False
    return True
