"""Which days of a source are final: checked fact by fact, recorded in `control/days`, reopened by whatever comes late.

A day is judged as of the epoch up to which its source is exact (lake/exact.py): final when each id is there once, in
every view, its files joined and its hours balanced. A row that came later makes the number of its rows another, which
reopens it, and only it, until the next check.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime

import duckdb
import pyarrow as pa
from deltalake import write_deltalake

from penstock.lake import exact, files, maintain
from penstock.lake.layout import Layout
from penstock.lake.publication import newest, open_table

JUDGED = """
select count(*) as rows, count(*) filter (fact) as facts,
    count(event_id) filter (fact) - count(distinct event_id) filter (fact) as twice,
    coalesce(max(epoch) filter (fact), -1) as last
from (select *, disposition = 'fact' as fact from silver where day = $day and epoch <= $exact)
"""


@dataclass(frozen=True)
class Day:
    """What a check said of one day: final, or why not. `rows` are the silver rows of all dispositions it looked at."""

    source: str
    release: str
    day: date
    rows: int
    facts: int
    final: bool
    reason: str
    at: datetime

    def final_at(self, rows: int) -> bool:
        """Whether the verdict still holds for a day of so many rows."""
        return self.final and self.rows == rows


TYPES = {
    "day": pa.date32(),
    "rows": pa.int64(),
    "facts": pa.int64(),
    "final": pa.bool_(),
    "at": pa.timestamp("us", "UTC"),
}
SCHEMA = pa.schema([(field.name, TYPES.get(field.name, pa.string())) for field in fields(Day)])


def close(
    layout: Layout, release: str, source: str, views: list[str], until: date, unbalanced: Collection[date] = ()
) -> list[Day]:
    """Makes every day up to `until` that is not final, or not any more, compact; checks it and records the verdict.

    `unbalanced` are days in which hours of the ledger do not add up."""
    known = {day.day: day for day in latest(layout, release, source)}
    silver = layout.silver(release, source)
    rows_of = {day: rows for day, rows in sorted(rows_by_day(silver).items()) if day <= until}
    reopened = {day for day, rows in rows_of.items() if not (day in known and known[day].final_at(rows))}
    for day in reopened:
        maintain.settle(silver, day, anew=day not in known)
    looked = [_judged(layout, release, source, views, day, day in unbalanced) for day in sorted(reopened)]
    # A day of which nothing is exact yet is open, and nothing can be said of it.
    judged = [day for day in looked if day.rows]
    if judged:
        columns = {field.name: [getattr(day, field.name) for day in judged] for field in fields(Day)}
        write_deltalake(layout.control("days"), pa.table(columns, SCHEMA), mode="append")
    return judged


def latest(layout: Layout, release: str, source: str) -> Iterator[Day]:
    """The last word on each day that was ever checked."""
    table = open_table(layout.control("days"))
    if table is None:
        return
    rows = table.to_pyarrow_table(filters=[("source", "=", source), ("release", "=", release)]).sort_by("at")
    yield from {row["day"]: Day(**row) for row in rows.to_pylist()}.values()


def rows_by_day(silver: str) -> Mapping[date, int]:
    """Nothing where there is no table."""
    table = open_table(silver)
    return {} if table is None else files.rows_by_day(table)


def _judged(layout: Layout, release: str, source: str, views: list[str], day: date, unbalanced: bool) -> Day:
    table = open_table(layout.silver(release, source))
    assert table is not None
    with duckdb.connect() as memory:
        memory.register("silver", table.to_pyarrow_dataset())
        asked = {"day": day, "exact": exact.up_to(layout, release, source)}
        rows, facts, twice, epoch = memory.execute(JUDGED, asked).fetchall()[0]
    behind = [view for view in views if not _covers(layout.gold(release, view), source, epoch)]
    reasons = [f"{twice} facts have an event id that another has"] * (twice > 0)
    reasons += [f"not yet built: {', '.join(behind)}"] * bool(behind)
    reasons += ["hours of it do not balance in the ledger"] * unbalanced
    return Day(source, release, day, rows, facts, not reasons, "; ".join(reasons), datetime.now(UTC))


def _covers(gold: str, source: str, epoch: int) -> bool:
    said = newest(open_table(gold))
    return epoch < 0 or (said is not None and said.cut.get(source, -1) >= epoch)
