# ruff: noqa: S608 - the text holds names of the view only
"""Sessions made of facts, by the day: a task makes those of some days, and what a midnight cuts is joined after it.

Only who was at work within the gap of a midnight may go on beyond it. All other sessions are whole where they are
made, are written there, and are shuffled by nobody: docs/decisions/0053.
"""

from collections.abc import Iterable, Iterator, Set
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from penstock.engine import candidate, daily, versions
from penstock.engine.inmemory import STORED
from penstock.lake.local import Local, answer, minis_sql, spoken_of
from penstock.lake.names import quoted
from penstock.lake.place import MOMENT, place, rows, write_parquet
from penstock.lake.session_sql import gap, stitched_sql
from penstock.model.view import Sessions

DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)
# Where a candidate keeps what midnights cut until it is joined; Delta looks past such names.
CUT = "_cut"
STRETCHES = pa.schema([("begin", MOMENT), ("end", MOMENT)])
MADE = pa.schema([*STRETCHES, ("cut", pa.string()), ("whole", pa.list_(pa.struct(list(candidate.WRITTEN_ARROW))))])


class Stretch(NamedTuple):
    """From a moment to just before another."""

    begin: datetime
    end: datetime


class Nights:
    """The sessions of one version of silver, written into the candidate at a path."""

    def __init__(self, spark: SparkSession, silver: DeltaTable, view: Sessions, path: str) -> None:
        self._spark = spark
        self._silver = versions.table(silver)
        self._view = view
        self._path = path
        self.schema = Local(versions.nothing(self._silver)).partials(view).schema

    def files(self, days: Set[date], asked: tuple[date, date] | None = None) -> Iterator[candidate.File]:
        """Writes the sessions of all facts, which these days have; or those that began on these days, where asked."""
        cut = list[tuple[Stretch, str]]()
        for piece in self._made(days):
            cut.append((Stretch(piece["begin"], piece["end"]), piece["cut"]))
            yield from (candidate.File(**file) for file in piece["whole"])
        joined = (batch for some in self._joined(sorted(cut), asked) for batch in some.to_batches())
        for held in candidate.pieces(joined):
            yield from candidate.files(held, self._path)
        place(self._path).below(CUT).remove()

    def _made(self, days: Set[date]) -> list[dict[str, Any]]:
        sizes = daily.sizes(self._silver)
        # How many rows a day of another moment has nobody knows.
        known = daily.laid_out(self._view)
        in_order = sorted(days & sizes.keys() if known else days)
        few = sum(sizes[day] for day in (in_order if known else sizes)) <= daily.FEW_ROWS

        def stretches(tasks: int) -> pa.Table:
            together = daily.together(in_order, sizes, tasks if known else None)
            return pa.Table.from_pylist([stretch(run[0], run[-1])._asdict() for run in together], STRETCHES)

        return daily.worked(self._spark, few, stretches, _writer(self._silver, self._view, self._path), MADE)

    def _joined(self, cut: Iterable[tuple[Stretch, str]], asked: tuple[date, date] | None) -> Iterator[pa.Table]:
        """What midnights cut, in the order of time: each session once nothing can lengthen it."""
        goes_on = self._before(asked[0]) if asked else self.schema.empty_table()
        for piece, name in cut:
            over, goes_on = self._over(piece, goes_on, rows(f"{self._path}/{name}"))
            yield _begun(over, asked)
        if asked is None:
            yield goes_on
            return
        day = asked[1]
        while (goes_on := _begun(goes_on, asked)).num_rows:
            day += DAY
            for piece, theirs in _of_facts(self._silver, self._view, stretch(day, day), goes_on):
                over, goes_on = self._over(piece, goes_on, theirs)
                yield _begun(over, asked)

    def _before(self, day: date) -> pa.Table:
        """Sessions that may go on after the midnight at which a day begins, as far as that must be known."""
        begin = _midnight(day)
        night = _of_facts(self._silver, self._view, Stretch(begin - gap(self._view), begin))
        return pa.concat_tables(sessions for _, sessions in night)

    def _over(self, piece: Stretch, *sessions: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Neighbours joined: those that are over when a piece of time is, and those that may go on."""
        parts = pa.concat_tables(some.cast(self.schema) for some in sessions)
        joined = answer(f"select {STORED} from ({stitched_sql(self._view, near=False)})", minis=parts).cast(self.schema)
        late = pc.field("ended") > _moment(piece.end - gap(self._view))
        return joined.filter(~late), joined.filter(late)


def stretch(first: date, last: date) -> Stretch:
    """All of some days."""
    return Stretch(_midnight(first), _midnight(last) + DAY)


def _writer(table: versions.Table, view: Sessions, path: str) -> daily.Work:
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for said in (said for batch in batches for said in batch.to_pylist()):
            for piece, sessions in _of_facts(table, view, Stretch(**said)):
                near = gap(view)
                cut = (pc.field("started") < _moment(piece.begin + near)) | (
                    pc.field("ended") > _moment(piece.end - near)
                )
                files = [file._asdict() for file in candidate.files(sessions.filter(~cut), path)]
                told = {**piece._asdict(), "cut": _set_aside(sessions.filter(cut), path), "whole": files}
                yield from pa.Table.from_pylist([told], MADE).to_batches()

    return write


def _set_aside(sessions: pa.Table, path: str) -> str:
    name, content = f"{CUT}/{uuid4()}.parquet", pa.BufferOutputStream()
    write_parquet(sessions, content)
    place(path).write(name, content.getvalue())
    return name


def _of_facts(
    table: versions.Table, view: Sessions, whole: Stretch, of: pa.Table | None = None
) -> Iterator[tuple[Stretch, pa.Table]]:
    """The sessions that a stretch's facts make alone: piece by piece where they are many. `of`: of its keys only."""
    silver = versions.dataset(table, versions.between(*_days(whole)) if daily.laid_out(view) else "")
    columns = spoken_of(silver.schema.names, minis_sql(view))
    pieces = -(-silver.count_rows(filter=_within(view, whole)) // daily.MANY_ROWS) or 1
    moments = [whole.begin + (whole.end - whole.begin) * number / pieces for number in range(pieces + 1)]
    for piece in (Stretch(*ends) for ends in pairwise(moments)):
        facts = silver.to_table(columns, filter=_within(view, piece))
        yield piece, Local(facts if of is None else _of_keys(view, facts, of)).partials(view)


def _of_keys(view: Sessions, facts: pa.Table, of: pa.Table) -> pa.Table:
    same = " and ".join(f"facts.{key} is not distinct from sessions.{key}" for key in map(quoted, view.key))
    return answer(f"select * from facts where exists (select 1 from sessions where {same})", facts=facts, sessions=of)


def _within(view: Sessions, piece: Stretch) -> pc.Expression:
    begin, end = map(_moment, piece)
    facts = (pc.field("disposition") == "fact") & (pc.field(view.at) >= begin) & (pc.field(view.at) < end)
    first, last = _days(piece)
    return facts & (pc.field("day") >= first) & (pc.field("day") <= last) if daily.laid_out(view) else facts


def _days(piece: Stretch) -> tuple[date, date]:
    """The first and the last."""
    return piece.begin.date(), (piece.end - MICROSECOND).date()


def _begun(sessions: pa.Table, asked: tuple[date, date] | None) -> pa.Table:
    """Those that began on asked days."""
    if asked is None:
        return sessions
    first, last = asked
    return sessions.filter((pc.field("day") >= first) & (pc.field("day") <= last))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _moment(moment: datetime) -> pa.Scalar:
    return pa.scalar(moment, MOMENT)
