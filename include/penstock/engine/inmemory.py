# ruff: noqa: S608 - the text holds names of the view only
"""Sessions and current rows of facts that fit in memory: DuckDB makes them as the reader does, without a Spark plan."""

from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from penstock.engine import candidate, versions
from penstock.engine.arrived import after
from penstock.lake.files import File, file_list
from penstock.lake.local import Local, answer, current_sql, merged_sql, minis_sql, spoken_of
from penstock.lake.place import rows as rows_of_file
from penstock.lake.session_sql import reach, spanned_days, stitched_sql, untouched_sql
from penstock.model.view import Latest, PerKey, Sessions, View

DAY = timedelta(days=1)
STORED = "cast(timezone('UTC', started) as date) as day, 'session' as width, started as bucket, * exclude (_open)"


def facts(silver: DeltaTable, view: Sessions | Latest, since: int, until: date) -> pa.Table:
    """The facts of days after one that came after an epoch; of them the columns that the view speaks of."""
    rows = versions.dataset(versions.table(silver), after(since))
    wanted = (pc.field("disposition") == "fact") & (pc.field("epoch") > since) & (pc.field("day") > pa.scalar(until))
    return rows.to_table(_columns(view, rows), filter=wanted)


def _columns(view: View, rows: ds.Dataset) -> list[str] | None:
    """Those that the view speaks of; all of a view by key, whose function may look at any."""
    match view:
        case Sessions():
            return spoken_of(rows.schema.names, minis_sql(view))
        case Latest():
            return spoken_of(rows.schema.names, current_sql(view))
    return None


def facts_of(silver: DeltaTable, view: PerKey, days: Collection[date] | None, most: int) -> pa.Table | None:
    """The facts whose moment is on these days (None: all); None where they are too many."""
    rows, wanted = silver.to_pyarrow_dataset(), pc.field("disposition") == "fact"
    if days is not None:
        # Of no days no facts: the end is before the beginning.
        begins = [
            datetime.combine(day, time(), UTC)
            for day in (min(days, default=date.max), max(days, default=date.min) + DAY)
        ]
        first, end = (pa.scalar(moment, pa.timestamp("us", "UTC")) for moment in begins)
        wanted &= (pc.field(view.at) >= first) & (pc.field(view.at) < end)
    return rows.to_table(_columns(view, rows), filter=wanted) if rows.count_rows(filter=wanted) <= most else None


def current(view: Latest, facts: pa.Table, gold: DeltaTable | None) -> pa.Table:
    """The latest row of each key, of these facts and of what was published."""
    own = Local(facts).partials(view)
    if gold is None:
        return own
    there = _read(file_list(gold), own.schema)
    return answer(merged_sql(view), parts=pa.concat_tables([own.select(there.column_names), there]))


def sessions(view: Sessions, facts: pa.Table, gold: DeltaTable) -> tuple[pa.Table, list[date]]:
    """All sessions of the days that these facts change: each with the published ones that it takes in, and the rest."""
    minis = Local(facts).partials(view)
    if not minis.num_rows:
        return minis, []
    published = file_list(gold)
    near = _read(reach(view, minis, published), minis.schema)
    stitched = answer(stitched_sql(view, near=True), minis=minis, near=near)
    days = spanned_days(stitched)
    there = _read([file for file in published if file.partition["day"] in days], minis.schema)
    every = f"{untouched_sql(view)} union all by name select * from stitched"
    return answer(f"select {STORED} from ({every})", gold=there, stitched=stitched).cast(minis.schema), sorted(days)


def _read(files: list[File], schema: pa.Schema) -> pa.Table:
    """The rows of some files, without what only their paths say; Spark's say of some columns that they are not null."""
    own = pa.schema([field for field in schema if field.name not in candidate.PARTITIONS])
    return pa.concat_tables(
        [own.empty_table(), *(rows_of_file(file.uri).select(own.names).cast(own) for file in files)]
    )
