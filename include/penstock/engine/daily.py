"""Tallies by the day: a task of Spark reads some days' rows once, and DuckDB counts every view of them.

Gold keeps no bucket wider than a day, so days have nothing to merge and nothing is shuffled: docs/decisions/0059.
What one task would do is done without a job.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache, partial, reduce
from operator import or_
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from penstock.engine import candidate
from penstock.engine.versions import Table, dataset, nothing, on, opened
from penstock.lake.files import rows_by_day
from penstock.lake.local import Local, answer, folded_sql, rows_of, spoken_of, tally_sql
from penstock.lake.profiles import JOINED_BY, columns_of, enriched
from penstock.lake.session import at_once, hands_of
from penstock.model.bucket import Bucket, widths
from penstock.model.view import Sessions, Tally, enrichment

# A day of more rows is read hour by hour: what a task holds is bounded.
MANY_ROWS = 2_000_000
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# Tasks for each core: days differ in size, and a task costs some 30 ms.
TASKS = 4
# To ask a question of a few rows costs as much as to count some thousands: small days are counted together.
ROWS_AT_ONCE = 250_000
# What is a unit's work or two is done where it is asked for: to start a session and Spark's workers takes longer.
FEW_ROWS = 2 * ROWS_AT_ONCE
# What a task does with batches of units.
Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
UNITS = pa.schema([("days", pa.list_(pa.date32())), ("asked", pa.list_(pa.int32()))])


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
    none = nothing(table)
    schemas = [_local(each.tally, none, None).partials(each.tally).schema for each in asked]
    tables = [candidate.create(schema, each.path) for schema, each in zip(schemas, asked, strict=True)]
    written: list[list[candidate.File]] = [[] for _ in asked]
    for who, *file in _counted(spark, table, asked):
        written[who].append(candidate.File(*file))
    for made, files in zip(tables, written, strict=True):
        candidate.commit(made, files)


def _counted(spark: SparkSession, table: Table, asked: Sequence[Asked]) -> Iterable[Iterable[Any]]:
    """Who asked, and each file that was written for him."""
    counts = sizes(table)
    few = _rows(asked, counts) <= FEW_ROWS
    told = worked(spark, few, partial(_units, asked, counts), _writer(table, asked), WRITTEN)
    return (row.values() for row in told)


def worked(
    spark: SparkSession, few: bool, units: Callable[[int], pa.Table], work: Work, told: pa.Schema
) -> list[dict[str, Any]]:
    """What is `told` of work on units: done here where there is little, else by tasks, whose number `units` gets."""
    if few:
        return _told(work, units(1).to_batches())
    most = at_once(spark) * TASKS
    rows = units(most)
    if hands := hands_of(spark):
        return [
            each for unit in hands.each(partial(_told, work), ([one] for one in rows.to_batches(1))) for each in unit
        ]
    job = spark.createDataFrame(rows).repartition(min(len(rows), most) or 1)
    done: pa.Table = job.mapInArrow(work, from_arrow_schema(told)).toArrow()
    return list(done.to_pylist())


def _told(work: Work, units: Iterable[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in work(iter(units)) for row in batch.to_pylist()]


def _rows(asked: Sequence[Asked], sizes: Mapping[date, int]) -> int:
    """How many are read at most."""
    if all(laid_out(each.tally) for each in asked):
        return sum(sizes.get(day, 0) for day in {day for each in asked for day in each.days})
    return sum(sizes.values())


def _units(asked: Sequence[Asked], sizes: Mapping[date, int], tasks: int) -> pa.Table:
    """One row for some days, and who asks for them."""
    return pa.Table.from_pylist([{"days": days, "asked": who} for days, who in units(asked, sizes, tasks)], UNITS)


def units(
    asked: Sequence[Asked], sizes: Mapping[date, int], tasks: int
) -> Iterator[tuple[Sequence[date], Sequence[int]]]:
    """Days that the same tallies ask for, together as long as they are small and every task has something to do.

    `sizes`: the rows of each day by which the table is laid out; of moments in another column nobody knows.
    """
    who: dict[tuple[str, date], list[int]] = {}
    for number, each in enumerate(asked):
        for day in each.days:
            who.setdefault((each.tally.at, day), []).append(number)
    for (_, numbers), days in _by_who(who).items():
        known = laid_out(asked[numbers[0]].tally)
        yield from ((some, numbers) for some in together(days, sizes, tasks if known else None))


def together(days: Iterable[date], sizes: Mapping[date, int], tasks: int | None) -> Iterator[list[date]]:
    """Days in turn, several at once where they are small and every task has some; each alone where nobody knows."""
    days = list(days)
    most = min(ROWS_AT_ONCE, sum(sizes.get(day, 0) for day in days) // tasks) if tasks else 0
    return runs(days, sizes, most)


def runs(days: Iterable[date], sizes: Mapping[date, int], most: int) -> Iterator[list[date]]:
    """Days in turn, so many together that they have no more rows than that; a larger one alone."""
    held, rows = list[date](), 0
    for day in days:
        size = sizes.get(day, 0)
        if held and rows + size > most:
            yield held
            held, rows = [], 0
        held, rows = [*held, day], rows + size
    if held:
        yield held


def _by_who(who: Mapping[tuple[str, date], list[int]]) -> dict[tuple[str, tuple[int, ...]], list[date]]:
    found: dict[tuple[str, tuple[int, ...]], list[date]] = {}
    for (at, day), numbers in sorted(who.items()):
        found.setdefault((at, tuple(numbers)), []).append(day)
    return found


def sizes(table: Table) -> dict[date, int]:
    """Rows of each day, as the table's log counts them."""
    return rows_by_day(opened(table))


def _writer(table: Table, asked: Sequence[Asked]) -> Work:
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for unit in (unit for batch in batches for unit in batch.to_pylist()):
            who = [asked[number] for number in unit["asked"]]
            said = {each.tally.name: _said(each) for each in who if each.said}
            tallies, days = [each.tally for each in who], unit["days"]
            facts = dataset(table, on(days) if laid_out(tallies[0]) else "")
            told = partials(facts, tallies, days, said=said)
            for number, each, rows in zip(unit["asked"], who, told, strict=True):
                files = [{"asked": number, **file._asdict()} for file in candidate.files(rows, each.path)]
                yield from pa.Table.from_pylist(files, WRITTEN).to_batches()

    return write


WRITTEN = pa.schema([("asked", pa.int32()), *candidate.WRITTEN_ARROW])


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
    days: Sequence[date],
    many: int = MANY_ROWS,
    said: Mapping[str, pa.Table] = MappingProxyType({}),
) -> list[pa.Table]:
    """Of each tally (all by one moment's column) what some days' rows make, in every width that gold keeps.

    `said`: by tally, what another source says that its facts are enriched with.
    """
    made: list[dict[Bucket, list[pa.Table]]] = [{width: [] for width in widths(tally.every)} for tally in tallies]
    for piece in _pieces(rows, tallies, days, many):
        plain = Local(piece, [tally for tally in tallies if not (isinstance(tally.of, Sessions) or enrichment(tally))])
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


def _pieces(rows: ds.Dataset, tallies: Sequence[Tally], days: Sequence[date], many: int) -> Iterator[pa.Table]:
    """The rows of some days, and of them the columns that any of the tallies speaks of: at once, or hour by hour."""
    of, at = tallies[0].of, tallies[0].at
    said = [tally_sql(tally, rows_of(tally)) for tally in tallies]
    joined = [" ".join((each.on, *JOINED_BY)) for tally in tallies if (each := enrichment(tally))]
    columns = spoken_of(rows.schema.names, " ".join([*said, *joined]))
    begins, by_day = [datetime.combine(day, time(), UTC) for day in days], pc.field("day").isin(list(days))
    own = by_day if laid_out(tallies[0]) else reduce(or_, (_between(at, day, DAY) for day in begins))
    shown = own if isinstance(of, Sessions) else own & (pc.field("disposition") == "fact")
    if rows.count_rows(filter=own) <= many:
        yield rows.to_table(columns, filter=shown)
        return
    for first in (begin + hour * HOUR for begin in begins for hour in range(24)):
        yield rows.to_table(columns, filter=shown & _between(at, first, HOUR))


def laid_out(view: Tally | Sessions) -> bool:
    """Whether it counts by the days of which its rows' folders are: facts happened, and sessions started on them."""
    return view.at == ("started" if isinstance(view.of, Sessions) else "happened_at")


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
