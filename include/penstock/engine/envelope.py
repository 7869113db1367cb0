"""Reads the envelope (Kafka headers) of records into columns. Absent or wrong headers never throw."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

TEXTS = ("event_id", "content_type", "schema_id", "user_agent", "client_address", "client_place", "consent")


def opened(records: pa.Table) -> dict[str, pa.Array]:
    """The envelope's columns; `received_at` falls back to the log's own time."""
    received_at = moments(header(records, "received_at"))
    return {
        **{name: texts(header(records, name)) for name in TEXTS},
        "received_at": pc.coalesce(received_at, records["timestamp"].combine_chunks().cast(received_at.type)),
    }


def header(records: pa.Table, name: str) -> pa.Array:
    """The first header of a name, as bytes; null where there is none."""
    headers = records["headers"].combine_chunks()
    pairs, rows = pc.list_flatten(headers), pc.list_parent_indices(headers)
    named = pc.equal(pc.struct_field(pairs, "key"), name)
    values, rows = pc.struct_field(pairs, "value").filter(named), rows.filter(named).to_numpy()
    places = np.full(len(headers), len(values), dtype=np.int64)
    # Backwards, so that the first of a name is what stays.
    places[rows[::-1]] = np.arange(len(values))[::-1]
    return pa.concat_arrays([values, pa.nulls(1, values.type)]).take(pa.array(places))


def texts(values: pa.Array) -> pa.Array:
    """Bytes as text; whatever is none is shown as such."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([value and value.decode(errors="replace") for value in values.to_pylist()], pa.string())


def moments(values: pa.Array) -> pa.Array:
    """Milliseconds, written as text; null where it is anything else."""
    told = texts(values)
    numbers = pc.if_else(pc.match_substring_regex(told, r"^[0-9]{1,14}$"), told, None).cast(pa.int64())
    return pc.multiply(numbers, 1000).cast(pa.timestamp("us"))


def shown(records: DataFrame) -> DataFrame:
    """The same of Spark's rows, for checks of bronze: they are Spark's, and need only the texts."""
    # Without `filter`, whose condition Spark interprets for each header of each record.
    places = {name: F.array_position("headers.key", F.lit(name)).cast("int") - 1 for name in TEXTS}
    told = {name: F.get(F.col("headers.value"), place).cast("string") for name, place in places.items()}
    return records.withColumns(told | {"logged_at": F.col("timestamp")})
