"""A candidate: what a build would publish, as a Delta table in a folder of its own where no reader looks.

Spark's tasks write its files with Arrow, one for each day and width; one commit names them. A Parquet file takes Arrow
a millisecond and Spark's own writer twenty, and a view of ninety days has hundreds: docs/decisions/0055.
"""

import json
import time
import uuid
from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.transaction import AddAction, RemoveAction
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from penstock.lake.layout import Layout
from penstock.lake.place import place, write_parquet
from penstock.lake.stats import statistics
from penstock.lake.tablelog import NO_HOOKS

PARTITIONS = ["day", "width"]
# What readers skip files by.
INDEXED = ("bucket", "started", "ended", "at")
# There from the beginning of a candidate to its end.
BEGUN = "_begun"
# A task holds so much before it writes: the files of a large view are about this large.
HELD_BYTES = 64 * 1024 * 1024
WRITTEN = "path string, size bigint, day date, width string, stats string"


def fresh(layout: Layout, release: str, view: str) -> str:
    """A folder for one build of a view. What earlier builds left behind is of no use to anybody and goes."""
    stands = layout.candidate(release, view)
    folder, _, name = stands.rpartition("/")
    for old in place(folder).names():
        if old == name or old.startswith(f"{name}~"):
            place(folder).below(old).remove()
    path = f"{stands}~{uuid.uuid4().hex[:12]}"
    place(path).write(BEGUN, b"")
    return path


def cleared(path: str) -> bool:
    """Whether another build has taken a candidate away since it was begun."""
    return place(path).length(BEGUN) is None


class File(NamedTuple):
    """A file that was written: a row of `WRITTEN`."""

    path: str
    size: int
    day: date
    width: str
    stats: str


def write(rows: DataFrame, path: str) -> None:
    """Makes the candidate's table of these rows."""
    commit(create(schema(rows), path), files_of(rows, path))


def files_of(rows: DataFrame, path: str) -> Iterator[File]:
    """Has tasks write the rows."""

    def write_files(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for held in pieces(batches):
            yield from pa.Table.from_pylist([file._asdict() for file in files(held, path)], WRITTEN_ARROW).to_batches()

    return (File(*row) for row in rows.mapInArrow(write_files, WRITTEN).collect())


def save(rows: pa.Table, path: str) -> None:
    """The same of rows that are in memory."""
    commit(create(rows.schema, path), files(rows, path))


def create(columns: pa.Schema, path: str) -> DeltaTable:
    return DeltaTable.create(path, columns, partition_by=PARTITIONS)


def commit(table: DeltaTable, written: Iterable[File]) -> None:
    """Names the files that tasks wrote, all at once."""
    now = int(time.time() * 1000)
    adds: list[AddAction | RemoveAction] = [
        AddAction(file.path, file.size, {"day": str(file.day), "width": file.width}, now, True, file.stats)
        for file in written
    ]
    table.create_write_transaction(adds, "append", table.schema(), PARTITIONS, post_commithook_properties=NO_HOOKS)


WRITTEN_ARROW = pa.schema(
    [("path", pa.string()), ("size", pa.int64()), ("day", pa.date32()), ("width", pa.string()), ("stats", pa.string())]
)


def schema(rows: DataFrame) -> pa.Schema:
    """The columns of the rows, each of which may be null: what Spark proves today may not hold of the next build."""
    nullable = json.loads(rows.schema.json().replace('"nullable":false', '"nullable":true'))
    return to_arrow_schema(StructType.fromJson(nullable), timezone="UTC")


def pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """What is written at once."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(each.nbytes for each in held) > HELD_BYTES:
            yield pa.Table.from_batches(held)
            held = []
    if any(batch.num_rows for batch in held):
        yield pa.Table.from_batches(held)


def files(rows: pa.Table, candidate: str) -> Iterator[File]:
    """Writes the rows of each day and width."""
    table = place(candidate)
    # Sketches are each other's like too seldom to look each of them up.
    recurring = [field.name for field in rows.schema if field.type != pa.binary()]
    # To take rows of one piece costs a quarter of what it costs of some.
    rows = rows.combine_chunks()
    order = [(name, "ascending") for name in PARTITIONS]
    in_order = rows.take(pc.sort_indices(rows, order))
    # Arrow does not say in which order groups come: where they are many and small it is not that of the rows.
    counts = in_order.group_by(PARTITIONS).aggregate([([], "count_all")]).sort_by(order).to_pylist()
    start = 0
    for each in counts:
        part = in_order.slice(start, each["count_all"]).drop_columns(PARTITIONS)
        start += part.num_rows
        where = table.below(f"day={each['day']}/width={each['width'].replace(' ', '_')}")
        where.files.create_dir(where.path, recursive=True)
        name = f"part-{uuid.uuid4()}.parquet"
        with where.files.open_output_stream(f"{where.path}/{name}") as file:
            write_parquet(part, file, use_dictionary=recurring)
            size = file.tell()
        stats = statistics(part, [column for column in INDEXED if column in part.column_names])
        path = where.below(name).path.removeprefix(f"{table.path}/")
        yield File(path, size, each["day"], each["width"], stats)
