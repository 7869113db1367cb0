"""Who comes back: visitors by the week in which they were first seen, and how many of them in each week after."""

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from penstock.lake.sketches import theta_and, theta_estimate, theta_not, theta_union
from penstock.model.page import Report
from penstock.serve.question import LONGEST
from penstock.serve.reports.asking import Asking, Found, Row

WEEKS = 8


def found(asking: Asking, report: Report) -> Found:
    (measure,) = report.measures
    mondays = _mondays(min(asking.asked.end, asking.now), asking.zone)
    start = mondays[0].isoformat()
    rows, answer = asking.sets(report.view, measure, every="1 week", order="bucket", **{"from": start})
    older, _ = asking.sets(report.view, measure, **{"from": (mondays[0] - LONGEST).isoformat(), "to": start})
    by_week = {row["bucket"].astimezone(asking.zone).date(): row[measure] for row in rows}
    weeks = [by_week.get(monday.date()) for monday in mondays]
    return Found(cohorts([monday.date() for monday in mondays], weeks, older[0][measure] if older else None), answer)


def cohorts(mondays: list[date], weeks: list[bytes | None], older: bytes | None) -> list[Row]:
    """`weeks` are the sets of visitors of each week; `older` those of all time before them."""
    told: list[Row] = []
    known = older
    for number, (monday, seen) in enumerate(zip(mondays, weeks, strict=True)):
        fresh = seen if seen is None or known is None else theta_not(seen, known)
        told.append({"week": monday.isoformat(), **_kept(fresh, weeks[number:])})
        known = theta_union([known, seen])
    return told


def _kept(fresh: bytes | None, weeks: list[bytes | None]) -> dict[str, Any]:
    if fresh is None:
        return {"visitors": 0, "kept": []}
    counts = [round(theta_estimate(theta_and(fresh, week))) if week is not None else 0 for week in weeks]
    return {"visitors": counts[0], "kept": [count / counts[0] if counts[0] else None for count in counts]}


def _mondays(end: datetime, zone: ZoneInfo) -> list[datetime]:
    """The local Mondays of the weeks up to the one that holds the last moment before `end`."""
    local = (end - timedelta(microseconds=1)).astimezone(zone)
    monday = (local - timedelta(days=local.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
    return [monday - timedelta(weeks=back) for back in reversed(range(WEEKS))]
