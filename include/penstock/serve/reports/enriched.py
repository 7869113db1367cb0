# ruff: noqa: S608 - names of the report's own declaration; what was said from outside is parameters
"""Page views of users, joined with what their profile said at the moment of the view. Exact, made of facts."""

from penstock.lake.names import quoted
from penstock.model.page import Report
from penstock.model.view import Tally
from penstock.serve.reports.asking import Asking, Found
from penstock.serve.tally_sql import filters


def found(asking: Asking, report: Report) -> Found:
    """`other` is the source of profiles; a property that a change does not name stays as it was."""
    _, answer = asking.rows(report.view)
    tally = asking.asked.view
    assert isinstance(tally, Tally)
    (key,) = report.by
    conditions, said = filters(asking.asked.where)
    seen = " and ".join([f"({tally.of.where})", "happened_at >= ?", "happened_at < ?", *conditions])  # type: ignore[union-attr]
    sql = joined(quoted(key), seen)
    told = asking.facts(tally, report.other, sql, [asking.asked.start, asking.asked.end, *said])
    return Found(told, answer)


def joined(key: str, seen: str) -> str:
    """Equal times: the profile as changed at that moment already holds."""
    return (
        f'with profiles as (select "user", happened_at, last_value({key} ignore nulls) over '
        "(partition by \"user\" order by happened_at, event_id) as property from profiles where disposition = 'fact'), "
        f"seen as (select \"user\", happened_at from facts where disposition = 'fact' and {seen}) "
        f"select coalesce(property, '(not said)') as {key}, count(*) as views, count(distinct s.\"user\") as users "
        'from seen s asof left join profiles p on s."user" = p."user" and s.happened_at >= p.happened_at '
        "group by 1 order by views desc, 1 limit 100"
    )
