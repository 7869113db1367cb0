"""Opens records that a collector has sealed, before anything reads them; those of erased subjects stay shut.

Keys are looked up for each batch and never held: what is destroyed while a stream runs is unreadable in its next epoch.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from penstock.engine import silver
from penstock.engine.envelope import header
from penstock.keys.sealing import AGENT, MAGIC, Opener
from penstock.keys.store import Keys, NoKeys
from penstock.lake.erasures import ERASED
from penstock.model.record import SUBJECTS
from penstock.model.source import Source

# The session's setting that says where the keys are: lake/spark_settings.py.
FOLDER = "spark.penstock.keys"


def keys_of(spark: SparkSession, source: Source) -> Path | None:
    """Where the keys of a source are. Sources without personal fields cost nothing."""
    return Path(str(spark.conf.get(FOLDER))) if source.subjects else None


def unsealed(records: pa.Table, folder: Path) -> tuple[pa.Array, pa.Array]:
    """The bytes that were sent, and the user agent of those that were sealed."""
    named, keys = header(records, SUBJECTS), Keys(folder)
    if named.null_count == len(named):
        # Nothing is sealed, and to look at each record takes as long as all the rest of its envelope.
        return records["value"].combine_chunks(), pa.nulls(len(named), pa.binary())
    values, subjects = records["value"].to_pylist(), named.to_pylist()
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
    agents = [agent or None for _, agent in found]
    return pa.array([value for value, _ in found], pa.binary()), pa.array(agents, pa.binary())


def plain(spark: SparkSession, records: pa.Table, source: Source) -> pa.Table:
    """Records as they would be had nobody sealed them: the user agent is among their headers."""
    if (folder := keys_of(spark, source)) is None:
        return records
    values, agents = unsealed(records, folder)
    headers = [
        [*(told or []), {"key": AGENT, "value": agent}] if agent else told
        for told, agent in zip(records["headers"].to_pylist(), agents.to_pylist(), strict=True)
    ]
    columns = {"value": values, "headers": pa.array(headers, records.schema.field("headers").type)}
    return pa.table([columns.get(name, records[name]) for name in records.column_names], records.schema)


def told_nothing(rows: pa.Table, source: Source) -> pa.Table:
    """Of records that nobody can open any more silver says the same as of those that were erased after it."""
    shut = pc.fill_null(pc.starts_with(rows["value"], pattern=MAGIC), False)
    if not source.subjects or not pc.any(shut).as_py():
        return rows
    gone = {"value" if name == "raw" else name for name in silver.forgotten(source)}
    for place, name in enumerate(rows.column_names):
        if name in gone:
            rows = rows.set_column(place, name, pc.if_else(shut, pa.scalar(None, rows[name].type), rows[name]))
        elif name == "reason":
            rows = rows.set_column(place, name, pc.if_else(shut, ERASED, rows[name]))
    return rows
