# ruff: noqa: S608 - the text holds names of the view only
"""Sessions in DuckDB: stitches what came after the cut to the published sessions of the same keys."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from penstock.lake.files import File
from penstock.lake.local import shown_sql
from penstock.lake.names import quoted
from penstock.model.bucket import Bucket
from penstock.model.view import Sessions


def gap(sessions: Sessions) -> timedelta:
    return timedelta(seconds=Bucket.of(sessions.gap).seconds)


def reach(sessions: Sessions, minis: pa.Table, gold: Iterable[File]) -> list[File]:
    """The files of gold whose sessions these minis could join, by what Delta's log says of their times."""
    early = pc.min(minis["started"]).as_py() - gap(sessions)
    late = pc.max(minis["ended"]).as_py() + gap(sessions)
    return [
        file
        for file in gold
        if _utc(file.greatest.get("ended"), late) >= early and _utc(file.least.get("started"), early) <= late
    ]


def stitched_sql(sessions: Sessions, near: bool) -> str:
    """The sessions that the rows of `minis` are in. `_open`: how many of their facts came after the cut."""
    keys = ", ".join(map(quoted, sessions.key))
    columns = ", ".join([keys, "started", "ended", "facts", *_stored(sessions)])
    same = " and ".join(f"near.{quoted(key)} is not distinct from minis.{quoted(key)}" for key in sessions.key)
    # Only sessions within the gap of a mini can change: the rest stay as they were published.
    width = f"interval '{Bucket.of(sessions.gap).seconds} seconds'"
    close = f"near.ended + {width} > minis.started and near.started - {width} < minis.ended"
    published = f"select {columns}, 0 as _open from near where exists (select 1 from minis where {same} and {close})"
    fresh = f"select {columns}, facts as _open from minis"
    in_order = f"partition by {keys} order by started"
    before = f"({in_order} rows between unbounded preceding and 1 preceding)"
    # Those that started at one moment come in no order: they are on one island, whichever was new.
    by_now = f"({in_order} range between unbounded preceding and current row)"
    folds = [f"{sql} as {quoted(column)}" for column, sql in _folds(sessions)]
    return (
        f"with parts as ({fresh}{' union all by name ' + published if near else ''}), "
        f"silent as (select *, coalesce(started >= max(ended) over {before} + {width}, false) "
        "as _new from parts), "
        f"islands as (select *, count_if(_new) over {by_now} as _island from silent) "
        f"select {keys}, min(started) as started, max(ended) as ended, cast(sum(facts) as bigint) as facts, "
        f"cast(sum(_open) as bigint) as _open{''.join(', ' + fold for fold in folds)} "
        f"from islands group by {keys}, _island"
    )


def untouched_sql(sessions: Sessions) -> str:
    """Published sessions that no stitched session has taken in."""
    same = " and ".join(f"g.{quoted(key)} is not distinct from s.{quoted(key)}" for key in sessions.key)
    columns = ", ".join([*map(quoted, sessions.key), "started", "ended", "facts", *_stored(sessions)])
    return (
        f"select {columns}, 0::bigint as _open from gold g where not exists "
        f"(select 1 from stitched s where {same} and g.started >= s.started and g.started <= s.ended)"
    )


def all_sessions_sql(view: Sessions, relations: Sequence[str]) -> str:
    """Published and stitched sessions together, each once, with their numbers."""
    selects = []
    if "gold" in relations and "stitched" in relations:
        selects.append(f"select * from ({untouched_sql(view)})")
    elif "gold" in relations:
        selects.append("select *, 0::bigint as _open from gold")
    if "stitched" in relations:
        selects.append("select * from stitched")
    return shown_sql(view, f"({' union all by name '.join(selects)})", "facts", "_open")


def spanned_days(stitched: pa.Table) -> frozenset[date]:
    """Every day on which a stitched session, or one that it took in, may have started."""
    return frozenset(
        start.date() + timedelta(days=number)
        for start, end in zip(stitched["started"].to_pylist(), stitched["ended"].to_pylist(), strict=True)
        for number in range((end.date() - start.date()).days + 1)
    )


def _stored(sessions: Sessions) -> list[str]:
    return [quoted(column) for name, measure in sessions.measures.items() for column in measure.columns(name)]


def _folds(sessions: Sessions) -> Iterable[tuple[str, str]]:
    return (fold for name, measure in sessions.measures.items() for fold in measure.folds(name).items())


def _utc(moment: datetime | None, otherwise: datetime) -> datetime:
    """What the log says; where it says nothing, what keeps the file. A truncated millisecond is given back."""
    return otherwise if moment is None else moment + timedelta(milliseconds=1)
