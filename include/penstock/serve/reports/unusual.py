"""Hours that are unlike the same hour of past weeks."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import sqrt
from statistics import median
from zoneinfo import ZoneInfo

from penstock.model.page import Report
from penstock.serve.reports.asking import Asking, Found, Row

WEEKS, LEAST_WEEKS = 8, 3
# So many usual spreads away is unusual. The median absolute deviation is 0.6745 of a standard deviation.
FAR, OF_DEVIATION = 3.5, 1.4826
HOUR = timedelta(hours=1)


def found(asking: Asking, report: Report) -> Found:
    (measure,) = report.measures
    start = asking.asked.start - timedelta(weeks=WEEKS)
    rows, answer = asking.rows(
        report.view, every="1 hour", limit="10000", order="bucket", **{"from": start.isoformat()}
    )
    seen = {row["bucket"]: float(row[measure]) for row in rows}
    end = min(asking.asked.end, asking.now) - HOUR
    return Found(unlike(seen, asking.asked.start, end, asking.zone), answer)


def unlike(seen: Mapping[datetime, float], start: datetime, end: datetime, zone: ZoneInfo) -> list[Row]:
    """Whole hours from `start` to `end`. An hour without facts is zero, from the first hour that had any."""
    if not seen:
        return []
    by_instant = {at.timestamp(): value for at, value in seen.items()}
    first = min(by_instant)
    hour = start.replace(minute=0, second=0, microsecond=0)
    told = []
    while hour <= end:
        past = [by_instant.get(at, 0.0) for at in _same_hours(hour, zone) if at >= first]
        told += _judged(hour, by_instant.get(hour.timestamp(), 0.0), past)
        hour += HOUR
    return told


def _same_hours(hour: datetime, zone: ZoneInfo) -> list[float]:
    """The same hour on the clock of each past week: what people do follows their clock, also over summer time."""
    local = hour.astimezone(zone)
    return [(local - timedelta(weeks=week)).timestamp() for week in range(1, WEEKS + 1)]


def _judged(hour: datetime, value: float, past: list[float]) -> list[Row]:
    if len(past) < LEAST_WEEKS:
        return []
    usual = median(past)
    spread = max(OF_DEVIATION * median(abs(one - usual) for one in past), sqrt(max(usual, 1.0)))
    if abs(value - usual) <= FAR * spread:
        return []
    return [{"hour": hour, "value": value, "usual": usual, "far": round((value - usual) / spread, 1)}]
