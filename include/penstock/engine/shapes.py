"""Records through a domain's shape: opened, judged, and what the engine adds to each.

A shape is a function of Spark's rows, or of Arrow tables (`OfTables`). Of the latter a task hands its rows on as they
lie, as one value of bytes: to make rows of Spark of forty columns, and Arrow of those again, takes longer than to judge
them (docs/decisions/0093-shapes-in-duckdb.md).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash
from pyspark.sql import DataFrame, SparkSession

from penstock.engine import silver
from penstock.engine.apart import Task, apart, keep_imports
from penstock.engine.avro import as_json
from penstock.engine.envelope import TEXTS, opened, texts
from penstock.engine.unsealing import keys_of, told_nothing, unsealed
from penstock.lake.shared import put
from penstock.model.source import Source

# The one column of what a task hands on as it lies.
PACKED = "packed"
OfRows = Callable[[DataFrame], DataFrame]
# From records to what a shape says of them.
Through = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.Table]]
# What a record is on the log.
LOGGED = ("partition", "offset", "value", "timestamp", "headers")
MOMENT = pa.timestamp("us")
# What a shape may ask of it: its bytes as they were sent, and its envelope.
ASKED = pa.schema(
    {
        "partition": pa.int32(),
        "offset": pa.int64(),
        "value": pa.binary(),
        "timestamp": MOMENT,
        "logged_at": MOMENT,
        "received_at": MOMENT,
        **dict.fromkeys(TEXTS, pa.string()),
    }
)
SPARKS_NAMES = {
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.binary(): "binary",
    MOMENT: "timestamp",
    pa.string(): "string",
}
# The columns of silver that are not the shape's to say.
ENGINES_OWN = {"epoch", "day", "disposition", "content_hash", "raw", "known"}
# No calendar of ours prints what is before or after: it would stop every reader of the table.
FIRST, END = (pa.scalar(seconds * 1_000_000, MOMENT) for seconds in (-62_135_596_800, 253_402_300_800))
# A statement is planned anew for each table, which takes as long as to judge 4,000 records; and a worker, the JVM and
# the driver each hold what is handed on.
TOGETHER, TOGETHER_BYTES = 100_000, 128 << 20
SPARKS_SEED = 42
# What a task hands on passes through several hands of the JVM, each with a copy of its own.
SMALL = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class OfTables:
    """A shape that is a pure function of tables, from ASKED to what `told_of` says; whatever else it says is left out.

    Its moments are UTC's, without a zone: nobody has to look one up. Code that is pinned to releases says this name.
    """

    judge: Callable[[pa.Table], pa.Table]


def shape_of(source: Source) -> OfRows | OfTables:
    """The domain's own function for a source."""
    shapes = import_module(f"domains.{source.domain}.shapes").SHAPES
    return cast(OfRows | OfTables, shapes[source.name])


def planned(records: DataFrame, source: Source, schemas: Mapping[int, str]) -> DataFrame:
    """What Spark does with records. `schemas`: those of Avro, by id."""
    shape, told = shape_of(source), told_of(source)
    keys = keys_of(records.sparkSession, source)
    opening = partial(_opened, keys)
    if isinstance(shape, OfTables) and not schemas:
        through = partial(_through, opening, shape.judge, told)
        return records.select(*LOGGED).mapInArrow(partial(_packed, through, told), f"{PACKED} binary")
    columns = ", ".join(f"{field.name} {SPARKS_NAMES[field.type]}" for field in ASKED)
    sent = as_json(records.select(*LOGGED).mapInArrow(partial(_each, opening), columns), schemas)
    if isinstance(shape, OfTables):
        through = partial(_through, _as_asked, shape.judge, told)
        return sent.mapInArrow(partial(_packed, through, told), f"{PACKED} binary")
    return shape(sent)


def put_apart(path: str, keys: Path | None, source: Source, read: Task) -> Callable[[], None] | None:
    """What a process does that shapes records which it reads by itself, and leaves their rows where others find them;
    None where Spark is needed for more."""
    shape, told = shape_of(source), told_of(source)
    if not isinstance(shape, OfTables):
        return None
    return partial(_put, path, partial(_through, partial(_opened, keys), shape.judge, told), read, source)


def _put(path: str, through: Through, read: Task, source: Source) -> None:
    put(path, (completed(rows, source) for rows in through(read())))


def planned_apart(spark: SparkSession, source: Source, reads: Sequence[Task]) -> DataFrame | None:
    """What tasks of Spark do with records that they read by themselves; None where Spark is needed for more."""
    shape, told = shape_of(source), told_of(source)
    if not isinstance(shape, OfTables):
        return None
    through = partial(_through, partial(_opened, keys_of(spark, source)), shape.judge, told)
    return apart(spark, [partial(_read, read, through, told) for read in reads], f"{PACKED} binary")


def collected(shaped: DataFrame, source: Source) -> pa.Table:
    """The rows of what was planned, with what the engine adds to each."""
    return completed(judged(shaped, source), source)


def at_once(records: pa.Table, source: Source, keys: Path | None) -> pa.Table:
    """The rows of records of the log, made in this process; None of Spark's work. For shapes of tables."""
    shape = shape_of(source)
    assert isinstance(shape, OfTables), f"{source.name} has a shape of Spark's rows"
    told = told_of(source)
    return completed(shape.judge(_opened(keys, records)).select(told.names).cast(told), source)


def judged(shaped: DataFrame, source: Source) -> pa.Table:
    """What the shape says, and no more."""
    rows = shaped.toArrow()
    if rows.column_names != [PACKED]:
        return rows
    return _unpacked(rows[PACKED].to_pylist(), source)


def _unpacked(packed: Iterable[bytes], source: Source) -> pa.Table:
    tables = [pa.ipc.open_stream(each).read_all() for each in packed]
    return pa.concat_tables([told_of(source).empty_table(), *tables])


def completed(rows: pa.Table, source: Source) -> pa.Table:
    """With a name and a hash of its content for each record, and no moment that cannot be printed."""
    if lacking := {"logged_at", "value"} - {*rows.column_names}:
        raise TypeError(f"the shape of {source.name} must keep the columns {sorted(lacking)} in its select")
    moments = rows["happened_at"].cast(MOMENT)
    printable = pc.and_(pc.greater_equal(moments, FIRST), pc.less(moments, END))
    position = pc.binary_join_element_wise(
        source.name, rows["partition"].cast(pa.string()), rows["offset"].cast(pa.string()), "/"
    )
    added = {
        "happened_at": pc.if_else(printable, rows["happened_at"], None),
        "reason": pc.coalesce(rows["reason"], pc.if_else(pc.invert(printable), "too_old", None)),
        # A record that nobody named is named for its place, so that a replay names it the same.
        "event_id": pc.coalesce(rows["event_id"], position),
    }
    for name, column in added.items():
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return told_nothing(rows.append_column("content_hash", _hashes(rows["value"])), source)


def told_of(source: Source) -> pa.Schema:
    """The columns of shaped records: silver's that are the shape's to say, and the record's bytes."""
    own = [field for field in silver.schema(source) if field.name not in ENGINES_OWN]
    return pa.schema([*own, pa.field("value", pa.binary())])


def _hashes(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """As Spark's `xxhash64`, by which silver has always told contents apart."""
    one, told = xxhash.xxh64_intdigest, list[int]()
    for chunk in values.cast(pa.binary()).chunks:
        _, offsets, data = chunk.buffers()
        places = np.frombuffer(offsets, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1].tolist()
        # As they lie: objects of so many bytes are memory that Python gives back, and the kernel clears each time.
        of_all = memoryview(data or b"")
        told += [one(of_all[begin:end], SPARKS_SEED) for begin, end in pairwise(places)]
    return pc.if_else(values.is_valid(), pa.array(np.array(told, np.uint64).view(np.int64)), SPARKS_SEED)


def _packed(through: Through, told: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    keep_imports()
    for rows in through(batches):
        into = pa.BufferOutputStream()
        with pa.ipc.new_stream(into, told, options=SMALL) as stream:
            stream.write_table(rows)
        yield pa.record_batch({PACKED: pa.array([into.getvalue().to_pybytes()], pa.binary())})


def _read(read: Task, through: Through, told: pa.Schema) -> Iterator[pa.RecordBatch]:
    yield from _packed(through, told, read())


def _through(
    opening: Callable[[pa.Table], pa.Table],
    judge: Callable[[pa.Table], pa.Table],
    told: pa.Schema,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.Table]:
    """What a shape says of records, some tens of thousands at once."""
    for records in _together(batches):
        yield judge(opening(records)).select(told.names).cast(told)


def _each(opening: Callable[[pa.Table], pa.Table], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    keep_imports()
    for batch in batches:
        yield from opening(pa.Table.from_batches([batch])).to_batches()


def _together(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) >= TOGETHER or sum(each.nbytes for each in held) >= TOGETHER_BYTES:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _opened(keys: Path | None, records: pa.Table) -> pa.Table:
    """The bytes that were sent, and the envelope."""
    arrived = records["timestamp"].cast(MOMENT)
    columns = {name: records[name] for name in LOGGED} | {"timestamp": arrived, "logged_at": arrived} | opened(records)
    if keys is not None:
        columns["value"], agent = unsealed(records, keys)
        # What was sealed with the record is not among its headers.
        columns["user_agent"] = pc.coalesce(texts(agent), columns["user_agent"])
    return pa.table([columns[name] for name in ASKED.names], ASKED)


def _as_asked(records: pa.Table) -> pa.Table:
    return records.cast(ASKED)
