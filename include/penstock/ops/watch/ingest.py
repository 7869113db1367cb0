"""Whether what arrives is what usually arrives: volume, reasons and duplicates."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from statistics import median

import duckdb

from penstock.lake.ledger import Balance
from penstock.lake.publication import open_table
from penstock.ops.watch.finding import Finding

WEEKS = 4
HOUR, WEEK = timedelta(hours=1), timedelta(days=7)
# Half or twice of what the same hour had in past weeks is no noise for a source that has this many records.
LEAST_SHARE, MOST_SHARE = 0.5, 2.0
ENOUGH_RECORDS = 500
DUPLICATE_SHARE = 0.05
REASON_SHARE = 0.02
# A sender that breaks is told of in the next minute's look, before its hour is over and a build refuses it. Noise is
# below one in thirty, as suites of silver have it too.
RECENT = timedelta(minutes=5)
SPOILT_SHARE = 1 / 30

REASONS = """
select reason, count(*) as records, count(*) filter (disposition = 'rejected') as rejected from silver
where logged_at > $since group by all order by records desc
"""


def volume(said: Sequence[Balance], hour: datetime) -> Iterator[Finding]:
    """Each source's hour against the same hour of past weeks; silent while there are no past weeks."""
    counts = {(each.source, each.hour): each.archived for each in said}
    for source in sorted({name for name, _ in counts}):
        past = [counts[source, at] for week in range(1, WEEKS + 1) if (source, at := hour - week * WEEK) in counts]
        usual = median(past) if past else 0
        now = counts.get((source, hour), 0)
        if usual >= ENOUGH_RECORDS and not LEAST_SHARE <= now / usual <= MOST_SHARE:
            text = f"{source}: {now} records in the hour from {hour:%Y-%m-%d %H:%M}; this hour usually has {usual:.0f}."
            yield Finding("volume_unusual", source, "critical" if now == 0 else "warning", text)


def spoilt(silver: str, source: str, now: datetime) -> Iterator[Finding]:
    """A sender that breaks: too much of what came in the last minutes was rejected."""
    table = open_table(silver)
    if table is None:
        return
    since = now - RECENT
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("silver", table.to_pyarrow_dataset())
        # Rejected records lie under the day on which they were logged, and facts may have happened long before.
        rows = memory.execute(REASONS, {"since": since}).fetchall()
    records, rejected = (sum(row[place] for row in rows) for place in (1, 2))
    if records >= ENOUGH_RECORDS and rejected / records > SPOILT_SHARE:
        named = ", ".join(f"{count:,} {reason}" for reason, _, count in rows if count)
        text = (
            f"{source}: of {records:,} records of the last {RECENT.seconds // 60} minutes {rejected:,} were rejected "
            f"({rejected / records:.1%}): {named}. They are kept: `penstock rejected --source {source}` shows them."
        )
        yield Finding("many_rejected", source, "warning", text)


def shares(said: Iterable[Balance], hour: datetime) -> Iterator[Finding]:
    """Reasons for rejection and duplicates that are more than noise."""
    for each in said:
        if each.hour != hour or each.archived < ENOUGH_RECORDS:
            continue
        reasons = {reason: count for reason, count in each.reasons.items() if count / each.archived > REASON_SHARE}
        if reasons:
            named = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            text = f"{each.source}: of {each.archived} records in the hour from {hour:%H:%M} rejected: {named}."
            yield Finding("many_rejected", each.source, "warning", text)
        if each.duplicates / each.archived > DUPLICATE_SHARE:
            text = (
                f"{each.source}: {each.duplicates} of {each.archived} records in the hour from {hour:%H:%M} came twice."
            )
            yield Finding("many_duplicates", each.source, "info", text)
