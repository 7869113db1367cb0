"""Opens records that a collector has sealed, before anything reads them; those of erased subjects stay shut.

Keys are looked up for each batch and never held: what is destroyed while a stream runs is unreadable in its next epoch.
AES is Spark's own; only the lookup is Python, of sixteen bytes a record: docs/decisions/0089.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import ArrowUDFType, arrow_udf
from pyspark.sql.types import BinaryType

from penstock.engine import silver
from penstock.keys.sealing import AGENT, LENGTH_BYTES, MAGIC, SUBJECTS, record_key, tokens_of
from penstock.keys.store import Keys
from penstock.lake.erasures import ERASED
from penstock.model.source import Source

# The session's setting that says where the keys are: lake/spark_settings.py.
FOLDER = "spark.penstock.keys"


def unsealed(records: DataFrame, source: Source) -> DataFrame:
    """Records with the bytes and the user agent that were sent. Sources without personal fields cost nothing."""
    if not source.subjects:
        return records
    key_of = _looked_up(records.sparkSession.conf.get(FOLDER))
    subjects = F.get(F.filter("headers", lambda one: one["key"] == SUBJECTS), F.lit(0))["value"]
    sealed = F.substring(F.col("value"), len(MAGIC) + 1, 2**31 - 1 - len(MAGIC))
    keyed = records.withColumn("_key", key_of(F.when(is_sealed(), subjects)))
    plain = keyed.withColumn("_plain", F.try_aes_decrypt(sealed, F.col("_key"), F.lit("GCM")))
    size = F.conv(F.hex(F.substring("_plain", 1, LENGTH_BYTES)), 16, 10).cast("int")
    agent = F.struct(F.lit(AGENT).alias("key"), F.expr(f"substring(_plain, {LENGTH_BYTES + 1}, _size)").alias("value"))
    return (
        plain.withColumn("_size", size)
        .withColumns(
            {
                "value": F.coalesce(F.expr(f"substring(_plain, {LENGTH_BYTES + 1} + _size)"), "value"),
                "headers": F.when(F.col("_size") > 0, F.array_append("headers", agent)).otherwise(F.col("headers")),
            }
        )
        .select(*records.columns)
    )


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


@cache
def _looked_up(folder: str) -> Callable[[Column], Column]:
    def keys_of(subjects: pa.Array) -> pa.Array:
        codes = subjects.dictionary_encode()
        named = [tokens_of(each) for each in codes.dictionary.to_pylist()]
        keys = Keys(Path(folder)).keys({token for tokens in named for token in tokens}) if named else {}
        found = [record_key(map(keys.__getitem__, each)) if keys.keys() >= set(each) else None for each in named]
        return pa.array(found, pa.binary()).take(codes.indices)

    return arrow_udf(keys_of, BinaryType(), ArrowUDFType.SCALAR)
