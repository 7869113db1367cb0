"""Whether facts have the fields that they usually have: declared ones that are filled no more, and undeclared ones."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from penstock.engine.arrived import asked
from penstock.lake.publication import open_table
from penstock.model.source import Source
from penstock.ops.watch.finding import Finding

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# Half of those who filled a field do so no more. Where a hundred were expected, that is five standard deviations.
LEAST_FILLED, ENOUGH_EXPECTED = 0.5, 100
KEYS = """
select key, min(logged_at) >= $hour as new, max(logged_at) < $hour as gone
from (select unnest(map_keys(extra)) as key, logged_at from rows
      where disposition = 'fact' and logged_at >= $day_before and logged_at < $ended)
group by all
"""
FILLED = """
select logged_at >= $hour as now, count(*), {fields} from rows
where disposition = 'fact' and logged_at >= $day_before and logged_at < $ended group by all
"""


def around(hour: datetime) -> dict[str, datetime]:
    """An hour, and the day before it."""
    return {"hour": hour, "day_before": hour - DAY, "ended": hour + HOUR}


def drift(silver: str, source: Source, hour: datetime) -> Iterator[Finding]:
    """Fields outside the contract that came up in this hour, or that the day before had and this hour lacks."""
    table = open_table(silver)
    if table is None or all(field.name != "extra" for field in source.fields):
        return
    rows = asked(table, KEYS, **around(hour))
    new, gone = (sorted(row[0] for row in rows if row[place]) for place in (1, 2))
    if new or gone:
        said = [f"new: {', '.join(new)}"] * bool(new) + [f"no longer there: {', '.join(gone)}"] * bool(gone)
        text = f"{source.name}: undeclared fields changed ({'; '.join(said)}). They are kept in `extra`."
        yield Finding("fields_changed", source.name, "info" if not gone else "warning", text)


def missing(silver: str, source: Source, hour: datetime) -> Iterator[Finding]:
    """Declared fields whose share of nulls jumped against the day before: senders renamed or dropped them."""
    table = open_table(silver)
    declared = [field.name for field in source.fields if not field.type.startswith("map")]
    if table is None or not declared:
        return
    fields = ", ".join(f'count("{name}")' for name in declared)
    counted = {now: counts for now, *counts in asked(table, FILLED.format(fields=fields), **around(hour))}
    if len(counted) < 2:
        return
    (facts, *filled), (before, *usual) = counted[True], counted[False]
    lost = [
        f"{name} in {now / facts:.1%} of facts (usually {then / before:.1%})"
        for name, now, then in zip(declared, filled, usual, strict=True)
        if (expected := then / before * facts) >= ENOUGH_EXPECTED and now < LEAST_FILLED * expected
    ]
    if lost:
        text = f"{source.name}: fields are filled less than the day before: {', '.join(lost)}. What came is kept."
        yield Finding("fields_missing", source.name, "warning", text)
