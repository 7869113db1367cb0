"""Opens records that a collector has sealed, before anything reads them; those of erased subjects stay shut.

Keys are looked up for each batch and never held: what is destroyed while a stream runs is unreadable in its next epoch.
In Python, for Spark cannot put an Arrow UDF of keys below those of a shape; measured in docs/decisions/0089.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.engine import silver
from penstock.engine.envelope import header_bytes
from penstock.keys.sealing import AGENT, MAGIC, SUBJECTS, Opener
from penstock.keys.store import Keys, NoKeys
from penstock.lake.erasures import ERASED
from penstock.model.source import Source

# The session's setting that says where the keys are: lake/spark_settings.py.
FOLDER = "spark.penstock.keys"
Batches = Iterable[pa.RecordBatch]


def unsealed(records: DataFrame, source: Source) -> DataFrame:
    """Records with the bytes and the user agent that were sent. Sources without personal fields cost nothing."""
    if not source.subjects:
        return records
    keyed = records.withColumns({"_subjects": header_bytes(SUBJECTS), "_agent": F.lit(None).cast("binary")})
    opened = keyed.mapInArrow(_opening(str(records.sparkSession.conf.get(FOLDER))), keyed.schema)
    agent = F.struct(F.lit(AGENT).alias("key"), F.col("_agent").alias("value"))
    headers = F.when(F.col("_agent").isNotNull(), F.array_append("headers", agent)).otherwise(F.col("headers"))
    return opened.withColumn("headers", headers).select(*records.columns)


def _opening(folder: str) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    keys = Keys(Path(folder))

    def opening(batches: Batches) -> Iterator[pa.RecordBatch]:
        return map(partial(_opened, keys), batches)

    return opening


def _opened(keys: Keys, batch: pa.RecordBatch) -> pa.RecordBatch:
    values, subjects = batch["value"].to_pylist(), batch["_subjects"].to_pylist()
    sealed = {each for each in subjects if each}
    if sealed and not keys.there():
        raise NoKeys(
            f"records are sealed and there are no keys at {keys.folder}. Nothing was shaped: give this program the "
            "folder `keys` of the collectors' home."
        )
    opener = Opener(keys, sealed)
    found = [
        (opener.opened(value, each) or (value, b"")) if value and each else (value, b"")
        for value, each in zip(values, subjects, strict=True)
    ]
    told = {"value": [value for value, _ in found], "_agent": [agent or None for _, agent in found]}
    columns = [
        pa.array(told[name], pa.binary()) if name in told else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def is_sealed() -> Column:
    """After `unsealed`: whether nobody can open it any more."""
    return F.coalesce(F.substring(F.col("value"), 1, len(MAGIC)) == F.lit(MAGIC), F.lit(False))


def told_nothing(source: Source, where: Column) -> dict[str, Column]:
    """What silver says of records that are erased before they are shaped: the same as of those that were after it."""
    gone = ["value" if name == "raw" else name for name in silver.forgotten(source)]
    return {
        "reason": F.when(where, ERASED).otherwise(F.col("reason")),
        **{name: F.when(~where, F.col(f"`{name}`")) for name in gone},
    }
