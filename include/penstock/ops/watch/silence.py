"""Whether a source has been silent for longer than it usually is."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from penstock.engine.arrived import asked
from penstock.lake.files import file_list
from penstock.lake.publication import open_table
from penstock.ops.watch.finding import Finding

DAY = timedelta(days=1)
# Three times the longest pause of the day before is none of those that people make; within ten minutes a sender may be
# released and a stream change its shift.
TIMES, LEAST = 3, timedelta(minutes=10)
# An hour of traffic shows a habit; a few records of somebody who tries something do not.
ENOUGH_MINUTES = 60
# After a week a source that was switched off is no news.
NEWS = timedelta(days=7)
PAUSES = """
select count(*), max(minute - before) from (
    select minute, lag(minute) over (order by minute) as before
    from (select distinct date_trunc('minute', logged_at) as minute from rows where logged_at > $since)
)
"""


def silent(silver: str, source: str, now: datetime) -> Iterator[Finding]:
    """The time since the last record against the longest pause of the day before it."""
    table = open_table(silver)
    ends = [file.greatest["logged_at"] for file in file_list(table) if file.greatest.get("logged_at")] if table else []
    if not table or not ends or not LEAST < now - max(ends) < NEWS:
        return
    last = max(ends)
    ((minutes, longest),) = asked(table, PAUSES, since=last - DAY)
    if minutes >= ENOUGH_MINUTES and now - last > TIMES * longest:
        text = (
            f"{source}: the last record came at {last:%Y-%m-%d %H:%M}, {_said(now - last)} ago. "
            f"In the day before that the longest pause was {_said(longest)}."
        )
        yield Finding("source_silent", source, "warning", text)


def _said(span: timedelta) -> str:
    return f"{span.total_seconds() / 60:.0f} min"
