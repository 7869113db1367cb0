"""Retraction: facts that should never have counted become rejected rows, in one commit a release, and their days are
built again behind the gate. Nothing is erased: rows keep their columns and say by which statement they were retracted.
A restatement goes the same way: rows get another value in one field, and keep the earlier one among their flags.

Done again after a crash it does what is left: rows that carry the mark are not touched twice.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from delta.tables import DeltaTable as SparkTable
from deltalake import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine import rollups, silver
from penstock.engine.arrived import newest
from penstock.engine.build import Batch, Built
from penstock.engine.conditions import BadCondition
from penstock.engine.counting import ROWS, Rows, seen
from penstock.engine.gate import GateResult
from penstock.engine.matching import about
from penstock.engine.overtaken import NOBODY, Quiet, committed
from penstock.engine.pinning import offsets_of
from penstock.engine.publish import Gate, Verdict
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import kept
from penstock.lake.retractions import REASON, RETRACTIONS, Restatement, Retraction
from penstock.lake.statements import Statement
from penstock.model.domain import enriched_by, views_of
from penstock.model.source import Source
from penstock.model.view import Latest, PerKey, Sessions, View

SAME = """
rows.partition = picked.partition and rows.offset = picked.offset and rows.day = picked.day
and rows.flags <=> picked.was
"""
# Each after the first is for rows that somebody else changed in the one before.
ROUNDS = 20


class Unconfirmed(RuntimeError):
    """A statement about everything or nothing was not confirmed. Nothing was changed."""


def settled(layout: Layout, source: Source, said: Retraction, confirmed: bool = False) -> Retraction:
    """Fixes what a statement is about, and writes it down: up to which offsets, which days, how many records."""
    if known := RETRACTIONS.known(layout, said):
        return known
    found = [one for release in kept(layout, source.domain) if (one := _found(layout, release, source, said))]
    most, facts = max((each[0] for each in found), default=0), max((each[1] for each in found), default=0)
    if not confirmed and (most == 0 or (most == facts and not said.of)):
        raise Unconfirmed(
            f"{said.where!r} is about {'no' if most == 0 else 'every'} fact of {source.name}. Nothing was changed. "
            "Correct the condition or the range, or confirm that it is meant."
        )
    days = sorted({day for each in found for day in each[2]})
    if why := rollups.settled(layout, source, days):
        raise BadCondition(why)
    return RETRACTIONS.state(layout, replace(said, ends=offsets_of(layout, source), days=days, records=most))


def _found(layout: Layout, release: str, source: Source, said: Retraction) -> tuple[int, int, set[str]] | None:
    """How many rows of a release a statement is about, of how many facts, and on which days they happened."""
    table = open_table(layout.silver(release, source.name))
    if table is None:
        return None
    rows = table.to_pyarrow_dataset()
    picked = about(rows, source, said)
    facts = rows.count_rows(filter=pc.field("disposition") == silver.FACT)
    return picked.num_rows, facts, {str(day) for day in pc.unique(picked["happened"]).to_pylist()}


def retract(
    spark: SparkSession,
    layout: Layout,
    source: Source,
    said: Retraction,
    gate_of: Callable[[str], Gate],
    quiet: Quiet = NOBODY,
) -> list[Built]:
    """Marks the rows of every release that is kept up, and builds what they were counted in."""
    built: list[Built] = []
    for release in kept(layout, source.domain):
        path = layout.silver(release, source.name)
        if open_table(path) is None:
            continue
        mark(spark, path, source, said, quiet)
        built += rebuilt(spark, layout, release, source, said, gate_of(release))
    return built


def mark(spark: SparkSession, path: str, source: Source, said: Retraction, quiet: Quiet = NOBODY) -> int:
    """One commit on silver; only the files of the days that change are read. Returns how many rows changed.

    What a row says by the time of the commit counts: rows that another statement changes meanwhile are looked at again.
    """
    found: list[int] = []

    def step() -> None:
        picked = about(DeltaTable(path).to_pyarrow_dataset(), source, said)
        found.append(picked.num_rows)
        if picked.num_rows:
            _merged(spark, path, picked, said)

    while not found or found[-1]:
        assert len(found) < ROUNDS, f"{path} is changed by others all the time: {said.id} holds in part. Run it again."
        committed(step, quiet)
    return found[0]


def _merged(spark: SparkSession, path: str, picked: pa.Table, said: Retraction) -> None:
    days = ", ".join(f"date'{day}'" for day in sorted(set(picked["day"].to_pylist())))
    same = f"rows.day in ({days}) and {SAME}"
    rows = spark.createDataFrame(picked.drop_columns("happened")).alias("picked")
    SparkTable.forPath(spark, path).alias("rows").merge(rows, same).whenMatchedUpdate(set=_changes(said)).execute()


def _changes(said: Retraction) -> dict[str, str | Column]:
    if isinstance(said, Restatement):
        return {"flags": F.col("picked.flags"), f"`{said.field}`": F.col("picked.value")}
    return _revoked(said) if said.of else _retracted(said)


def _retracted(said: Retraction) -> dict[str, str | Column]:
    return {
        "flags": F.array_union(F.coalesce("rows.flags", F.array()), F.array(F.lit(said.mark))),
        "disposition": F.lit(silver.REJECTED),
        "reason": F.lit(REASON),
        "day": F.to_date("rows.logged_at"),
    }


def _revoked(said: Retraction) -> dict[str, str | Column]:
    """Fact again, unless another statement holds it."""
    left = F.array_remove("rows.flags", said.mark)
    held = F.exists(left, lambda flag: flag.startswith(f"{REASON}:"))
    return {
        "flags": left,
        "disposition": F.when(held, F.col("rows.disposition")).otherwise(silver.FACT),
        "reason": F.when(held, F.col("rows.reason")),
        "day": F.when(held, F.col("rows.day")).otherwise(F.to_date("rows.happened_at")),
    }


def rebuilt(
    spark: SparkSession, layout: Layout, release: str, source: Source, said: Statement, gate: Gate
) -> list[Built]:
    """The touched days of every view of the source; views without days of their own, or beyond them, as a whole."""
    if not said.days:
        return []
    views = views_of(source)
    whole = [view for view in views if _whole(view)]
    reach = max((view.horizon for view in views if isinstance(view, PerKey)), default=0)
    days = date.fromisoformat(said.days[0]), date.fromisoformat(said.days[-1]) + timedelta(days=reach)
    batch = Batch(spark, layout, release, lenient(gate, said))
    batch.least = newest(DeltaTable(layout.silver(release, source.name)))
    by_day = batch.build([view for view in views if view not in whole], days=days)
    # Facts of another source, on whatever day, were joined with these.
    joined = Batch(spark, layout, release, gate).build(enriched_by(source), full=True)
    return [*by_day, *batch.build(whole, full=True), *joined]


def lenient(gate: Gate, said: Statement) -> Gate:
    """Days that lose every fact leave a candidate without rows: that is what was asked for, and approved."""

    def judge(rows: DataFrame | Rows, table: str) -> Verdict:
        if not seen(rows).counted([ROWS])[0]:
            return GateResult(table, True, f"no facts are left of these days by {said.id}", ())
        return gate(rows, table)

    return judge


def _whole(view: View) -> bool:
    return isinstance(view, Sessions | Latest) or isinstance(view.of, Sessions) or view.at != "happened_at"
