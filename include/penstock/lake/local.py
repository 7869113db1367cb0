# ruff: noqa: S608 - the text holds names and conditions of the view only
"""Partials of facts that are in memory: the measures' DuckDB expressions, no Spark job."""

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from penstock.lake import sketches
from penstock.lake.dialect import planned_once, teach
from penstock.model.bucket import Bucket
from penstock.model.measure import NOTHING, Measure
from penstock.model.view import Latest, Sessions, Tally, View

# What one process holds before it writes to disk.
MEMORY = "2GB"


class Local:
    """Some facts, and the partials that views make of them.

    `often`: tallies of facts for which what they ask of each fact is made once, and not by each of them in each width.
    """

    def __init__(self, facts: pa.Table, often: Iterable[Tally] = ()) -> None:
        self._made = {sql: f"_each{number}" for number, sql in enumerate(each_of(often))}
        self._engine = _session(facts=_with(facts, self._made) if self._made else facts)

    def partials(self, view: View, width: Bucket | None = None) -> pa.Table:
        """Day, width, then the view's own columns: what Spark would make of the same facts (or sessions).

        A tally's are in its own width, unless another is asked for.
        """
        match view:
            case Tally():
                return self._table(tally_sql(view, rows_of(view), width, self._made))
            case Sessions():
                return self._table(minis_sql(view))
            case Latest():
                return self._table(current_sql(view))
        raise TypeError(f"{view.name} is computed by key, not from an epoch's facts alone")

    def _table(self, sql: str) -> pa.Table:
        return planned_once(self._engine, sql)


def _with(facts: pa.Table, made: Mapping[str, str]) -> pa.Table:
    """Facts with columns of what is asked of each."""
    columns = answer(f"select {', '.join(f'{sql} as {name}' for sql, name in made.items())} from facts", facts=facts)
    for name in columns.column_names:
        facts = facts.append_column(name, columns[name])
    return facts


def answer(sql: str, **relations: pa.Table) -> pa.Table:
    """What a question of ours about rows gives."""
    return planned_once(_session(**relations), sql)


def spoken_of(columns: Iterable[str], sql: str) -> list[str]:
    """The columns that a text may ask for: those whose names are words of it."""
    return [name for name in columns if re.search(rf"\b{re.escape(name)}\b", sql)]


def _session(**relations: pa.Table) -> duckdb.DuckDBPyConnection:
    """A session of its own in an engine that all share: to open one and to teach it our sketches takes longer than
    all views of an epoch."""
    engine = _taught().cursor()
    teach(engine)
    for name, rows in relations.items():
        engine.register(name, rows)
    return engine


@cache
def _taught() -> duckdb.DuckDBPyConnection:
    engine = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": MEMORY, "temp_directory": _spill()})
    engine.execute("set enable_progress_bar = false")
    sketches.register(engine)
    return engine


def _spill() -> str:
    """Where facts go that do not fit, which nobody else may read. DuckDB makes the folder when it needs one."""
    own = Path(tempfile.gettempdir(), f"penstock-{os.getuid()}")
    with suppress(FileExistsError):
        own.mkdir(mode=0o700)
    there = own.lstat()
    # Somebody else may have taken the name.
    private = stat.S_ISDIR(there.st_mode) and there.st_uid == os.getuid() and stat.S_IMODE(there.st_mode) == 0o700
    return f"{own if private else tempfile.mkdtemp(prefix='penstock-')}/{os.getpid()}"


def rows_of(tally: Tally) -> str:
    """What a tally counts, of the stored rows that are registered as `facts`."""
    return f"({shown_sql(tally.of, 'facts')})" if isinstance(tally.of, Sessions) else "facts"


def each_of(tallies: Iterable[Tally]) -> list[str]:
    """What measures ask of each fact."""
    parts = (part for tally in tallies for measure in tally.measures.values() for part in measure.parts)
    return list(dict.fromkeys(part.each for part in parts if part.each))


def tally_sql(
    tally: Tally, relation: str = "facts", width: Bucket | None = None, made: Mapping[str, str] = NOTHING
) -> str:
    """A tally's partials of facts, or of the shown sessions that it is made of."""
    width = width or Bucket.of(tally.every)
    moment = width.duckdb(f"make_timestamp(epoch_us({tally.at}))")
    where = "true" if isinstance(tally.of, Sessions) else tally.of.where
    stored = _stored(tally.measures, tally.at, made)
    keyed = ", ".join(["_moment", *_quoted(tally.by)])
    return (
        f"select cast(_moment as date) as day, '{width.name}' as width, timezone('UTC', _moment) as bucket, "
        f"{', '.join([*_quoted(tally.by), 'count(*) as facts', *stored])} "
        f"from (select *, {moment} as _moment from {relation} where {where}) group by {keyed}"
    )


def folded_sql(tally: Tally) -> str:
    """A tally's `partials` of several parts of its facts: those of one bucket and the same keys as one."""
    keyed = ", ".join(_quoted(["day", "width", "bucket", *tally.by]))
    folds = {column: sql for name, measure in tally.measures.items() for column, sql in measure.folds(name).items()}
    sums = ["cast(sum(facts) as bigint) as facts", *(f'{sql} as "{column}"' for column, sql in folds.items())]
    return f"select {keyed}, {', '.join(sums)} from partials group by {keyed}"


def shown_sql(sessions: Sessions, relation: str, *more: str) -> str:
    """Sessions with their numbers, as questions and tallies see them, and more of the relation's columns."""
    numbers = [f'{measure.shown(name)} as "{name}"' for name, measure in sessions.measures.items()]
    seconds = "date_diff('second', started, ended) as seconds"
    columns = [*_quoted(sessions.key), "started", "ended", seconds, *numbers, *more]
    return f"select {', '.join(columns)} from {relation}"


def minis_sql(sessions: Sessions) -> str:
    """A fact starts a session when the key was silent for the gap before it."""
    keys = ", ".join(_quoted(sessions.key))
    order = f"partition by {keys} order by {sessions.at}"
    gap = f"interval '{Bucket.of(sessions.gap).seconds} seconds'"
    silent = f"coalesce({sessions.at} >= lag({sessions.at}) over ({order}) + {gap}, false)"
    # Facts of one moment come in no order, and in another one each time: they are on one island, whichever was new.
    island = f"count_if(_new) over ({order} range between unbounded preceding and current row)"
    shown = [*_quoted(sessions.key), "started", "ended", "facts"]
    stored = [column for name, measure in sessions.measures.items() for column in measure.columns(name)]
    return (
        f"select cast(timezone('UTC', started) as date) as day, 'session' as width, started as bucket, "
        f"{', '.join([*shown, *_quoted(stored)])} from ("
        f"select {keys}, min({sessions.at}) as started, max({sessions.at}) as ended, count(*) as facts, "
        f"{', '.join(_stored(sessions.measures, sessions.at))} from (select *, {island} as _island from "
        f"(select *, {silent} as _new from facts where {sessions.of.where})) group by {keys}, _island)"
    )


def current_sql(latest: Latest) -> str:
    keys = ", ".join(_quoted(latest.key))
    row = ", ".join(f"{name} := {name}" for name in _quoted(latest.columns))
    return (
        f"select date '1970-01-01' as day, 'latest' as width, {keys}, facts, row.* from (select {keys}, "
        f"count(*) as facts, max(struct_pack(at := {latest.at}, {row})) as row "
        f"from facts where {latest.of.where} group by {keys})"
    )


def merged_sql(latest: Latest) -> str:
    """The latest of some current rows, in `parts`, for each key."""
    keys = ", ".join(_quoted(latest.key))
    row = ", ".join(f"{name} := {name}" for name in _quoted(["at", *latest.columns]))
    return (
        f"select date '1970-01-01' as day, 'latest' as width, {keys}, facts, row.* from (select {keys}, "
        f"cast(sum(facts) as bigint) as facts, max(struct_pack({row})) as row from parts group by {keys})"
    )


def _stored(measures: Mapping[str, Measure], at: str, made: Mapping[str, str] = NOTHING) -> list[str]:
    return [
        f'{sql} as "{column}"'
        for name, measure in measures.items()
        for column, sql in measure.locals(name, at, made).items()
    ]


def _quoted(names: Iterable[str]) -> list[str]:
    return [f'"{name}"' for name in names]
