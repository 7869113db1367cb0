"""Rebuilds what was dropped or damaged: bronze from the log, silver from bronze, views from silver.

Each is written beside what is sound, and the next to be made of it is built in the same operation. Done again after a
crash it does what is left: what is missing is asked of the tables, never remembered.
"""

import json
import math
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from penstock.engine import silver, versions
from penstock.engine.archive import archived, bronze
from penstock.engine.arrived import asked, newest
from penstock.engine.bronze import chunks, records
from penstock.engine.build import Batch, Built
from penstock.engine.checkpoints import heal, notes, places
from penstock.engine.commit import Appender, create
from penstock.engine.damage import broken, losses
from penstock.engine.dispositions import disposed
from penstock.engine.gaps import Hole, watermarks
from penstock.engine.halting import halted, shapes_of
from penstock.engine.history import remembered
from penstock.engine.matching import after
from penstock.engine.pinning import note, view_tables
from penstock.engine.publish import Gate
from penstock.engine.rebooking import rebooked
from penstock.engine.repair import repaired
from penstock.engine.repeating import Said, in_force
from penstock.engine.replay import EPOCH_RECORDS
from penstock.engine.shape import Shape
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.place import place
from penstock.lake.publication import cut_of, open_table
from penstock.lake.repairs import Repair
from penstock.lake.restore_points import points
from penstock.lake.retention import announced
from penstock.model.domain import domains, source, view, views_of
from penstock.model.source import Source
from penstock.model.view import source_of
from penstock.settings import Settings

SchemasOf = Callable[[str], Mapping[int, str]]
POSITION = ["partition", "offset"]


class Lost(RuntimeError):
    """Records that neither bronze nor the log has. What could be brought back was; the message names the rest."""


def dropped(path: str) -> int:
    """Takes files that cannot be read out of a table's log; they are kept beside it. Returns how many."""
    wrong, folder = broken(path, deep=True), place(path)
    for name in wrong:
        if folder.length(name) is not None:
            day, slash, file = name.rpartition("/")
            # A name that no reader and no vacuum looks for.
            folder.rename(name, f"{day}{slash}_damaged-{uuid.uuid4().hex[:8]}-{file}")
    if wrong:
        DeltaTable(path).repair()
    return len(wrong)


def rebuild(
    spark: SparkSession, settings: Settings, table: str, operation: str, schemas: SchemasOf, gate: Callable[[str], Gate]
) -> str:
    """One table by its path below the root, as `penstock doctor` names it, and what is made of it."""
    layout, (kind, *rest) = Layout(settings.lake), table.split("/")
    name = rest[-1]
    of = source(name) if kind in ("bronze", "silver") else source_of(view(name))
    jobs = [f"archive-{of.name}-{FIRST_RELEASE}", *shapes_of(layout, of)]
    with halted(settings.home, jobs):
        if kind == "bronze":
            told = f"{mend_bronze(spark, settings.kafka, layout, of, operation):,} records archived again"
            heal(places(layout, of.name, FIRST_RELEASE)[0])
            return f"{table}: {told}"
        rows = 0
        if kind == "silver":
            shape = Shape(of, layout, rest[0], partial(schemas, of.name))
            rows = mend_silver(spark, shape, operation)
            rebooked(layout, of.name, rest[0])
            heal(shape.place)
        built = mend_views(spark, layout, rest[0], of, gate(rest[0]), () if kind == "silver" else related(of, name))
        return f"{table}: {rows:,} records shaped again, {len(built)} views built"


def related(of: Source, name: str) -> list[str]:
    """A view and the tallies of its sessions."""
    return [each.name for each in domains()[of.domain].views if name in (each.name, getattr(each.of, "name", ""))]


def mend_silver(spark: SparkSession, shape: Shape, operation: str) -> int:
    """Shapes again what bronze has and silver lacks. The caller holds the stream's lease.

    The epochs are new ones of a query of this operation's own, written as a batch: the stream goes on after them.
    """
    path, archive = shape.place.table, shape.layout.bronze(shape.source.name)
    number = highest(shape.layout, shape.release, shape.source)
    create(path, silver.schema(shape.source), silver.INDEXED)
    dropped(path)
    shape.seen = remembered(path, math.inf)
    query = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{operation}/{path}"))
    said = in_force(shape.layout, shape.source.name)
    expired = announced(shape.layout, shape.release, shape.source.name)
    stored = versions.table(DeltaTable(archive))
    for chunk in chunks(stored, -1, EPOCH_RECORDS):
        shaped = shape.shaped(missing(spark, path, records(spark, stored, chunk)))
        if shaped.num_rows:
            number += 1
            judged = disposed(shaped, shape.seen, shape.source, number, announced=expired)
            shape.seen.remember_facts(judged)
            rows = stated(spark, shape, judged, said)
            shape.seen.remember_facts(rows)
            Appender(path).append(rows, query, number, archived=chunk.last)
    return written(path, query)


def stated(spark: SparkSession, shape: Shape, rows: pa.Table, said: Sequence[Said]) -> pa.Table:
    """Rows of an epoch that is not written yet, after what people have stated of their records."""
    for each in said:
        rows = repaired(spark, shape, rows, each) if isinstance(each, Repair) else after(rows, shape.source, [each])
    return rows


def written(path: str, query: str) -> int:
    """How many rows a query wrote, also before it was killed: the audit tells of all of them, however many epochs."""
    epochs = [int(said["epoch"]) for said in notes(DeltaTable(path), every=True) if said["query"] == query]
    return int(DeltaTable(path).to_pyarrow_dataset().count_rows(filter=pc.field("epoch").isin(epochs)))


def missing(spark: SparkSession, path: str, of: DataFrame) -> DataFrame:
    """The records of which silver says nothing; those after its end belong to the stream, if it has one."""
    told = spark.read.format("delta").load(path).select(*POSITION)
    return of.join(told, on=POSITION, how="left_anti").select(*of.columns)


def highest(layout: Layout, release: str, of: Source) -> int:
    """The last epoch that anything of a source's release was ever numbered with."""
    path = layout.silver(release, of.name)
    table = open_table(path)
    said = note(table) if table else None
    cuts = [cut_of(layout, release, each.name, of.name) for each in views_of(of)]
    speeds = [open_table(layout.speed(release, each.name)) for each in views_of(of)]
    streams = [point.streams for point in points(layout)[:1]]
    stands = [stand.epoch for known in streams for name, stand in known.items() if path.endswith(name)]
    return max([said[1] if said else -1, *cuts, *(newest(each) for each in speeds if each), *stands])


def mend_views(
    spark: SparkSession, layout: Layout, release: str, of: Source, gate: Gate, only: Sequence[str] = ()
) -> list[Built]:
    """Builds views of a source as a whole, up to silver's last epoch; what is broken of theirs is dropped before."""
    speeds, _ = view_tables(layout, release, of)
    for path in speeds:
        if open_table(path) and (not only or path.rpartition("/")[2] in only):
            # Gold is written anew as a whole; of speed only what the cut leaves, which must be readable.
            dropped(path)
    views = views_of(of)
    batch = Batch(spark, layout, release, gate)
    batch.least = highest(layout, release, of)
    return batch.build([each for each in views if not only or each.name in only], full=True)


def mend_bronze(spark: SparkSession, kafka: str, layout: Layout, of: Source, operation: str) -> int:
    """Archives again what the log still has of what bronze lacks. Raises `Lost` where it has not."""
    path = layout.bronze(of.name)
    dropped(path)
    rows, lost = 0, list[str]()
    for part, first, end in list(holes(layout, kafka, of.name)):
        low, _ = watermarks(kafka, of.name)[part]
        if first < low:
            lost.append(
                f"partition {part} offsets {first:,} to {min(end, low) - 1:,} ({min(end, low) - first:,} records)"
            )
        if end > max(first, low):
            rows += _archived(spark, kafka, path, operation, (part, max(first, low), end))
    rebooked(layout, of.name)
    if lost:
        raise Lost(
            f"{rows:,} records of {of.name} were archived again; the log no longer has {'; '.join(lost)}. Silver "
            "and views still have what was made of them."
        )
    return rows


def holes(layout: Layout, kafka: str, source: str) -> Iterator[Hole]:
    """What lies between two records of bronze, or between the log's first and bronze's; its end is the stream's."""
    yield from losses(layout, kafka, source)
    firsts = asked(DeltaTable(layout.bronze(source)), 'select partition, min("offset") from rows group by all')
    lows = watermarks(kafka, source)
    for part, first in firsts:
        if lows[int(part)][0] < first:
            yield int(part), lows[int(part)][0], int(first)


def _archived(spark: SparkSession, kafka: str, path: str, operation: str, hole: tuple[int, int, int]) -> int:
    """One hole, filled from the log in one commit."""
    part, first, end = hole
    name = path.rpartition("/")[2]
    options = {
        "kafka.bootstrap.servers": kafka,
        "assign": json.dumps({name: [part]}),
        "includeHeaders": "true",
        "failOnDataLoss": "true",
        "startingOffsets": json.dumps({name: {str(part): first}}),
        "endingOffsets": json.dumps({name: {str(part): end}}),
    }
    said = note(DeltaTable(path))
    number = said[1] + 1 if said else 0
    rows = archived(bronze(spark.read.format("kafka").options(**options).load()).toArrow(), number)
    # Written as a batch, so that the archive goes on after it.
    Appender(path).append(rows, str(uuid.uuid5(uuid.NAMESPACE_URL, f"{operation}/{hole}")), number, archived=number)
    return int(rows.num_rows)
