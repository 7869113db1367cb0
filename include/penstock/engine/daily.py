"""Tallies by the day: a task of Spark reads a day's rows once, and DuckDB counts every view of them.

Gold keeps no bucket wider than a day, so days have nothing to merge and nothing is shuffled: docs/decisions/0059.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from penstock.engine import candidate
from penstock.lake.local import Local, answer, folded_sql, rows_of, spoken_of, tally_sql
from penstock.lake.profiles import JOINED_BY, columns_of, enriched
from penstock.model.bucket import Bucket, widths
from penstock.model.view import Sessions, Tally, enrichment

# A day of more rows is read hour by hour: what a task holds is bounded.
MANY_ROWS = 2_000_000
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# Tasks for each core: days differ in size, and a task costs some 30 ms.
TASKS = 4
UNITS = pa.schema([("day", pa.date32()), ("at", pa.string()), ("asked", pa.list_(pa.int32()))])


@dataclass(frozen=True)
class Table:
    """The rows that tallies are made of: facts of silver, or published sessions, at one version. `id`: a table that was
    dropped and made again has the same path, and in time the same version."""

    path: str
    version: int
    id: str


def table(delta: DeltaTable) -> Table:
    """A table as it is opened."""
    return Table(delta.table_uri, delta.version(), str(delta.metadata().id))


@dataclass(frozen=True)
class Asked:
    """A tally, the days of it that are counted, and the candidate that they are written to."""

    tally: Tally
    days: Iterable[date]
    path: str
    # What another source says, where the tally's facts are enriched with it.
    said: Table | None = None


def count(spark: SparkSession, table: Table, asked: Sequence[Asked]) -> None:
    """Makes the candidates, all by one job."""
    nothing = _dataset(table).schema.empty_table()
    schemas = [_local(each.tally, nothing, None).partials(each.tally).schema for each in asked]
    tables = [candidate.create(schema, each.path) for schema, each in zip(schemas, asked, strict=True)]
    written: list[list[candidate.File]] = [[] for _ in asked]
    for row in _units(spark, asked).mapInArrow(_writer(table, asked), f"asked int, {candidate.WRITTEN}").collect():
        written[row.asked].append(row)
    for made, files in zip(tables, written, strict=True):
        candidate.commit(made, files)


def _units(spark: SparkSession, asked: Sequence[Asked]) -> DataFrame:
    """One row for each day, and who asks for it."""
    units: dict[tuple[date, str], list[int]] = {}
    for number, each in enumerate(asked):
        for day in each.days:
            units.setdefault((day, each.tally.at), []).append(number)
    rows = [{"day": day, "at": at, "asked": who} for (day, at), who in sorted(units.items())]
    tasks = min(len(rows), spark.sparkContext.defaultParallelism * TASKS) or 1
    return spark.createDataFrame(pa.Table.from_pylist(rows, UNITS)).repartition(tasks)


def _writer(table: Table, asked: Sequence[Asked]):  # type: ignore[no-untyped-def]
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for unit in (unit for batch in batches for unit in batch.to_pylist()):
            who = [asked[number] for number in unit["asked"]]
            said = {each.tally.name: _said(each) for each in who if each.said}
            told = partials(_dataset(table), [each.tally for each in who], unit["day"], said=said)
            for number, each, rows in zip(unit["asked"], who, told, strict=True):
                files = [{"asked": number, **file._asdict()} for file in candidate.files(rows, each.path)]
                yield from pa.Table.from_pylist(files, WRITTEN).to_batches()

    return write


WRITTEN = pa.schema([("asked", pa.int32()), *candidate.WRITTEN_ARROW])


@lru_cache(maxsize=1)
def _dataset(table: Table) -> ds.Dataset:
    """Opened once by each of Spark's workers: a version never changes."""
    return DeltaTable(table.path, version=table.version).to_pyarrow_dataset()


def _said(asked: Asked) -> pa.Table:
    """What another source says, of the columns that a tally's facts are enriched with: one copy a worker."""
    of = enrichment(asked.tally)
    assert of and asked.said
    return _all(asked.said, tuple(columns_of([of])))


# A domain has few sources that others are enriched with.
@lru_cache(maxsize=2)
def _all(table: Table, columns: tuple[str, ...]) -> pa.Table:
    return DeltaTable(table.path, version=table.version).to_pyarrow_dataset().to_table(list(columns))


def partials(
    rows: ds.Dataset,
    tallies: Sequence[Tally],
    day: date,
    many: int = MANY_ROWS,
    said: Mapping[str, pa.Table] = MappingProxyType({}),
) -> list[pa.Table]:
    """Of each tally (all by one moment's column) what a day's rows make, in every width that gold keeps.

    `said`: by tally, what another source says that its facts are enriched with.
    """
    made: list[dict[Bucket, list[pa.Table]]] = [{width: [] for width in widths(tally.every)} for tally in tallies]
    for piece in _pieces(rows, tallies, day, many):
        plain = Local(piece)
        for tally, parts in zip(tallies, made, strict=True):
            local = _local(tally, piece, said.get(tally.name)) if enrichment(tally) else plain
            for width, told in parts.items():
                told.append(local.partials(tally, width))
    return [
        pa.concat_tables(_whole(tally, width, told) for width, told in parts.items())
        for tally, parts in zip(tallies, made, strict=True)
    ]


def _local(tally: Tally, rows: pa.Table, said: pa.Table | None) -> Local:
    of = enrichment(tally)
    return Local(enriched(of, rows, said) if of else rows)


def _pieces(rows: ds.Dataset, tallies: Sequence[Tally], day: date, many: int) -> Iterator[pa.Table]:
    """The rows of a day, and of them the columns that any of the tallies speaks of: at once, or hour by hour."""
    of, at = tallies[0].of, tallies[0].at
    said = [tally_sql(tally, rows_of(tally)) for tally in tallies]
    joined = [" ".join((each.on, *JOINED_BY)) for tally in tallies if (each := enrichment(tally))]
    columns = spoken_of(rows.schema.names, " ".join([*said, *joined]))
    first = datetime.combine(day, time(), UTC)
    # Silver is laid out by the day of `happened_at`, sessions by the day they started.
    laid_out_by = "started" if isinstance(of, Sessions) else "happened_at"
    own = pc.field("day") == pa.scalar(day) if at == laid_out_by else _between(at, first, DAY)
    shown = own if isinstance(of, Sessions) else own & (pc.field("disposition") == "fact")
    if rows.count_rows(filter=own) <= many:
        yield rows.to_table(columns, filter=shown)
        return
    for hour in range(24):
        yield rows.to_table(columns, filter=shown & _between(at, first + hour * HOUR, HOUR))


def _between(at: str, first: datetime, width: timedelta) -> pc.Expression:
    from_, to = (pa.scalar(moment, pa.timestamp("us", "UTC")) for moment in (first, first + width))
    return (pc.field(at) >= from_) & (pc.field(at) < to)


def _whole(tally: Tally, width: Bucket, parts: list[pa.Table]) -> pa.Table:
    """Buckets wider than an hour have a part in each piece."""
    together = pa.concat_tables(parts)
    return (
        together
        if len(parts) == 1 or width.divides(Bucket.of("1 hour"))
        else answer(folded_sql(tally), partials=together)
    )
