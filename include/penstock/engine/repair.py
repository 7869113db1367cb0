"""Repairs what was rejected: exactly those records are shaped again, into the right days, and their views are built.

The records come from bronze and are corrected before the shape sees them; those that become facts, or copies of facts,
replace their own rows in one commit. What stays rejected is left alone. Revoked, rows are shaped again as they came.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from delta.tables import DeltaTable as SparkTable
from deltalake import DeltaTable
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from penstock.engine import silver
from penstock.engine.correcting import BadRepair, corrected
from penstock.engine.dispositions import disposed
from penstock.engine.history import remembered
from penstock.engine.overtaken import NOBODY, Quiet, committed
from penstock.engine.pinning import offsets_of
from penstock.engine.publish import Gate
from penstock.engine.retraction import rebuilt
from penstock.engine.shape import Shape
from penstock.engine.unsealing import unsealed
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.records import COLUMNS
from penstock.lake.releases import current, kept
from penstock.lake.repairs import REPAIRS, Repair
from penstock.lake.session import open_session
from penstock.log.schemas import Schemas
from penstock.model.domain import source
from penstock.settings import Settings

CHOSEN = 'select partition, "offset", day, epoch, cast(happened_at as date) as happened from rows where {rules}'
RECORDS = """
select {columns} from bronze join chosen on bronze.partition = chosen.partition and bronze."offset" = chosen."offset"
order by bronze.partition, bronze."offset"
"""
ShapeOf = Callable[[str], Shape]


@dataclass(frozen=True)
class Tried:
    """Of so many records, so many would become facts or copies of facts; `left` are the reasons of the others."""

    records: int
    rows: pa.Table
    left: dict[str, int]

    def text(self) -> str:
        kinds = {name: pc.sum(pc.equal(self.rows["disposition"], name)).as_py() or 0 for name in silver.DISPOSITIONS}
        others = ", ".join(f"{count:,} {reason}" for reason, count in self.left.items()) or "none"
        return (
            f"Of {self.records:,} records {kinds[silver.FACT]:,} would become facts and {kinds[silver.DUPLICATE]:,} "
            f"duplicates; still rejected: {others}."
        )


def planned(home: Path, operation: str) -> Path:
    """Where the dry run of an operation says what it found."""
    folder = home / "run" / "plans"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{uuid.uuid5(uuid.NAMESPACE_URL, operation)}.txt"


def tried(spark: SparkSession, shape: Shape, said: Repair) -> Tried:
    """What a repair, or its revocation, would make of the rows that it is about. Changes nothing."""
    chosen = about(shape, said)
    if chosen.num_rows == 0:
        return Tried(0, silver.schema(shape.source).empty_table(), {})
    sealed = spark.createDataFrame(_records(shape, chosen))
    records = unsealed(sealed, shape.source).toArrow()
    if not said.of:
        values = [corrected(value, said) for value in records["value"].to_pylist()]
        place = records.column_names.index("value")
        records = records.set_column(place, "value", pa.array(values, pa.binary()))
    shaped = shape.shaped(spark.createDataFrame(records)).toArrow()
    rows = disposed(shaped, remembered(shape.place.table, inf), shape.source, 0)
    better = rows if said.of else rows.filter(pc.not_equal(rows["disposition"], silver.REJECTED))
    others = [] if said.of else rows.filter(pc.equal(rows["disposition"], silver.REJECTED))["reason"].to_pylist()
    return Tried(chosen.num_rows, better, {reason: others.count(reason) for reason in sorted(set(others))})


def looked(settings: Settings, said: Repair) -> str:
    """The same in words, of the release that people read, in a session of its own."""
    layout, of, schemas = Layout(settings.lake), source(said.source), Schemas(settings.kafka)
    shape = Shape(of, layout, current(layout, of.domain), partial(schemas.of_source, of.name))
    return tried(open_session(settings, "repair"), shape, said).text()


def about(shape: Shape, said: Repair) -> pa.Table:
    """The rows that a statement would still change: rejected for its reason, or carrying the mark that it revokes."""
    marked = f"list_contains(coalesce(flags, []), '{said.mark}')"
    ends = [f'(partition = {int(part)} and "offset" < {int(end)})' for part, end in said.ends.items()]
    rules = [marked] if said.of else [f"disposition = '{silver.REJECTED}'", "reason = $reason"]
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("rows", DeltaTable(shape.place.table).to_pyarrow_dataset())
        sql = CHOSEN.format(rules=" and ".join([*rules, *([f"({' or '.join(ends)})"] if ends else [])]))
        return memory.sql(sql, params={} if said.of else {"reason": said.reason}).to_arrow_table()


def _records(shape: Shape, chosen: pa.Table) -> pa.Table:
    """The records as bronze has them, in the log's own columns."""
    columns = ", ".join(f'bronze."{name}"' for name in COLUMNS)
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("bronze", DeltaTable(shape.layout.bronze(shape.source.name)).to_pyarrow_dataset())
        memory.register("chosen", chosen)
        return memory.sql(RECORDS.format(columns=columns)).to_arrow_table()


def settled(spark: SparkSession, layout: Layout, said: Repair, shape_of: ShapeOf) -> Repair:
    """Writes the statement down with what it is about, before anything changes."""
    if known := REPAIRS.known(layout, said):
        return known
    shapes = [shape_of(release) for release in kept(layout, said.source.partition(".")[0])]
    found = [(shape, tried(spark, shape, said)) for shape in shapes if open_table(shape.place.table)]
    most = max((one.rows.num_rows for _, one in found), default=0)
    if most == 0:
        raise BadRepair(f"it would change no record of {said.source}: {found[0][1].text() if found else 'no silver'}")
    days = {str(day) for shape, one in found for day in [*one.rows["day"].to_pylist(), *_happened(shape, said)]}
    ends = offsets_of(layout, shapes[0].source)
    return REPAIRS.state(layout, replace(said, ends=ends, days=sorted(days), records=most))


def _happened(shape: Shape, said: Repair) -> list[Any]:
    """The days that lose facts when a repair is revoked."""
    return about(shape, said)["happened"].drop_null().to_pylist() if said.of else []


def repair(
    spark: SparkSession,
    layout: Layout,
    said: Repair,
    shape_of: ShapeOf,
    gate: Callable[[str], Gate],
    quiet: Quiet = NOBODY,
) -> int:
    """Every release that is kept up: rows replaced, days built. Returns how many rows were."""
    changed = 0
    for release in kept(layout, said.source.partition(".")[0]):
        shape = shape_of(release)
        if open_table(shape.place.table):
            changed += put(spark, shape, said, quiet)
            rebuilt(spark, layout, release, shape.source, said, gate(release))
    return changed


def put(spark: SparkSession, shape: Shape, said: Repair, quiet: Quiet = NOBODY) -> int:
    """One commit on silver: rows get what the shape makes of them now; epoch and position stay."""
    rows, chosen = tried(spark, shape, said).rows, about(shape, said)
    if rows.num_rows == 0:
        return 0
    days = ", ".join(f"date'{day}'" for day in sorted(set(chosen["day"].to_pylist())))
    same = "rows.partition = made.partition and rows.offset = made.offset"
    made = spark.createDataFrame(rows).alias("made")
    changes: dict[str, str | Column] = {
        name: F.col(f"made.`{name}`") for name in rows.column_names if name not in ("partition", "offset", "epoch")
    }
    if not said.of:
        flags = F.coalesce("made.flags", F.array())
        changes["flags"] = F.array_union(flags, F.array(F.lit(said.mark)))

    def step() -> None:
        table = SparkTable.forPath(spark, shape.place.table).alias("rows")
        table.merge(made, f"rows.day in ({days}) and {same}").whenMatchedUpdate(set=changes).execute()

    committed(step, quiet)
    return int(rows.num_rows)
