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

from penstock.engine import rollups, silver
from penstock.engine.dispositions import disposed
from penstock.engine.history import remembered
from penstock.engine.ids import Seen
from penstock.engine.overtaken import NOBODY, Quiet, committed
from penstock.engine.pinning import offsets_of
from penstock.engine.publish import Gate
from penstock.engine.retraction import rebuilt
from penstock.engine.shape import Shape
from penstock.engine.unsealing import plain
from penstock.lake.correcting import BadRepair, corrected
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.records import COLUMNS
from penstock.lake.releases import current, kept
from penstock.lake.repairs import REPAIRS, Repair
from penstock.lake.retention import WHOLE
from penstock.lake.session import open_session
from penstock.log.schemas import Schemas
from penstock.model.domain import source
from penstock.settings import Settings

# What an epoch that is not written yet becomes: corrected rows in the place of those that they were made of.
REPAIRED = """
select made.* replace ({stays}, {flags} as flags) from made join rows using (partition, "offset")
union all by name select rows.* from rows anti join made using (partition, "offset")
order by partition, "offset"
"""
CHOSEN = 'select partition, "offset", day, epoch, cast(happened_at as date) as happened from rows where {rules}'
RECORDS = """
select {columns} from bronze join chosen on bronze.partition = chosen.partition and bronze."offset" = chosen."offset"
order by bronze.partition, bronze."offset"
"""
ShapeOf = Callable[[str], Shape]


@dataclass(frozen=True)
class Tried:
    """Of the chosen records, some would become facts or copies of facts; `left` are the reasons of the others."""

    chosen: pa.Table
    rows: pa.Table
    left: dict[str, int]

    def text(self) -> str:
        kinds = {name: pc.sum(pc.equal(self.rows["disposition"], name)).as_py() or 0 for name in silver.DISPOSITIONS}
        others = ", ".join(f"{count:,} {reason}" for reason, count in self.left.items()) or "none"
        facts, copies = (f"{kinds[name]:,}" for name in (silver.FACT, silver.DUPLICATE))
        return (
            f"Of {self.chosen.num_rows:,} records {facts} would become facts and {copies} duplicates; still rejected: "
            f"{others}."
        )


# Of a row that is repaired: where its record is, when it came, and what was known then.
STAYS = ("partition", "offset", "epoch", "known")


def planned(home: Path, operation: str) -> Path:
    """Where the dry run of an operation says what it found."""
    folder = home / "run" / "plans"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{uuid.uuid5(uuid.NAMESPACE_URL, operation)}.txt"


def tried(spark: SparkSession, shape: Shape, said: Repair) -> Tried:
    """What a repair, or its revocation, would make of the rows that it is about. Changes nothing."""
    path = shape.place.table
    return _made(spark, shape, said, about(DeltaTable(path).to_pyarrow_dataset(), said), lambda: remembered(path, inf))


def repaired(spark: SparkSession, shape: Shape, rows: pa.Table, said: Repair) -> pa.Table:
    """The rows of an epoch that is not written yet, after a repair or its revocation. The shape has seen their ids."""
    made = _made(spark, shape, said, about(rows, said), lambda: shape.seen).rows
    if made.num_rows == 0:
        return rows
    stays = ", ".join(f'rows."{name}" as "{name}"' for name in STAYS if name not in ("partition", "offset"))
    flags = "made.flags" if said.of else "list_append(coalesce(made.flags, []), $mark)"
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("rows", rows)
        memory.register("made", made)
        sql = REPAIRED.format(stays=stays, flags=flags)
        told: pa.Table = memory.sql(sql, params={} if said.of else {"mark": said.mark}).to_arrow_table()
        return told.select(rows.column_names).cast(rows.schema)


def _made(spark: SparkSession, shape: Shape, said: Repair, chosen: pa.Table, seen: Callable[[], Seen]) -> Tried:
    if chosen.num_rows == 0:
        return Tried(chosen, silver.schema(shape.source).empty_table(), {})
    records = plain(spark, _records(shape, chosen), shape.source)
    if not said.of:
        values = [corrected(value, said) for value in records["value"].to_pylist()]
        place = records.column_names.index("value")
        records = records.set_column(place, "value", pa.array(values, pa.binary()))
    shaped = shape.shaped(spark.createDataFrame(records))
    rows = disposed(shaped, seen(), shape.source, 0)
    better = rows if said.of else rows.filter(pc.not_equal(rows["disposition"], silver.REJECTED))
    others = [] if said.of else rows.filter(pc.equal(rows["disposition"], silver.REJECTED))["reason"].to_pylist()
    return Tried(chosen, better, {reason: others.count(reason) for reason in sorted(set(others))})


def looked(settings: Settings, said: Repair) -> str:
    """The same in words, of the release that people read, in a session of its own."""
    layout, of, schemas = Layout(settings.lake), source(said.source), Schemas(settings.kafka)
    shape = Shape(of, layout, current(layout, of.domain), partial(schemas.of_source, of.name))
    return tried(open_session(settings, "repair"), shape, said).text()


def about(rows: Any, said: Repair) -> pa.Table:
    """Rows of silver that a statement would still change: rejected for its reason, or marked by what it revokes."""
    marked = f"list_contains(coalesce(flags, []), '{said.mark}')"
    ends = [f'(partition = {int(part)} and "offset" < {int(end)})' for part, end in said.ends.items()]
    rules = [marked] if said.of else [f"disposition = '{silver.REJECTED}'", "reason = $reason"]
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("rows", rows)
        sql = CHOSEN.format(rules=" and ".join([WHOLE, *rules, *([f"({' or '.join(ends)})"] if ends else [])]))
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
    days = {str(day) for _, one in found for day in [*one.rows["day"].to_pylist(), *_happened(one, said)]}
    if why := rollups.settled(layout, shapes[0].source, days):
        raise BadRepair(why)
    ends = offsets_of(layout, shapes[0].source)
    return REPAIRS.state(layout, replace(said, ends=ends, days=sorted(days), records=most))


def _happened(found: Tried, said: Repair) -> list[Any]:
    """The days that lose facts when a repair is revoked."""
    return found.chosen["happened"].drop_null().to_pylist() if said.of else []


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
    """One commit on silver: rows get what the shape makes of them now; epoch, position and what was known stay.

    What a row says by the time of the commit counts: one that another statement changed meanwhile is left to that.
    """
    found: list[int] = []

    def step() -> None:
        one = tried(spark, shape, said)
        found.append(one.rows.num_rows)
        if found[-1]:
            _merged(spark, shape, one, said)

    committed(step, quiet)
    return found[-1]


def _merged(spark: SparkSession, shape: Shape, found: Tried, said: Repair) -> None:
    days = ", ".join(f"date'{day}'" for day in sorted(set(found.chosen["day"].to_pylist())))
    same = F.expr(f"rows.day in ({days}) and rows.partition = made.partition and rows.offset = made.offset")
    rejected = (F.col("rows.disposition") == silver.REJECTED) & (F.col("rows.reason") == said.reason)
    still = F.array_contains("rows.flags", said.mark) if said.of else rejected
    changes: dict[str, str | Column] = {
        name: F.col(f"made.`{name}`") for name in found.rows.column_names if name not in STAYS
    }
    if not said.of:
        flags = F.coalesce("made.flags", F.array())
        changes["flags"] = F.array_union(flags, F.array(F.lit(said.mark)))
    made = spark.createDataFrame(found.rows).alias("made")
    table = SparkTable.forPath(spark, shape.place.table).alias("rows")
    table.merge(made, same & still).whenMatchedUpdate(set=changes).execute()
