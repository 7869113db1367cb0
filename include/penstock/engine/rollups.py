"""Rollups whose facts have expired: they are kept as they are, so builds replace other days only and nothing is stated
of what they are made of. Everything is asked of `control/retention`: docs/decisions/0027.
"""

from collections.abc import Iterable
from datetime import date, timedelta

from penstock.engine.increment import Range
from penstock.lake.days import rows_by_day
from penstock.lake.layout import Layout
from penstock.lake.releases import kept
from penstock.lake.retention import kept_until
from penstock.model.retention import reach
from penstock.model.source import Source

DAY = timedelta(days=1)


def left(until: date, full: bool, days: Range, tables: Iterable[str]) -> Range:
    """Of the days that a build is asked for beside those that gained facts, the ones that are not kept.

    All of them, in full: up to the last that any of these tables has."""
    if full:
        last = max((day for path in tables for day in rows_by_day(path)), default=until)
        return until + DAY, max(last, until + DAY)
    return (max(days[0], until + DAY), days[1]) if days and days[1] > until else None


def lacking(view: str, until: date) -> str:
    """Why a view that was never built cannot be: what it would lack."""
    return (
        f"{view} was not built: facts up to {until} have expired, and nothing else has its rows of those days. A "
        "replay of the whole domain makes a release in which it has all that bronze has: `penstock replay`."
    )


def settled(layout: Layout, source: Source, days: Iterable[str]) -> str:
    """Why nothing can be stated of facts of these days any more; empty: it can.

    Sessions that began before midnight have facts of the day after."""
    first = min(days, default="")
    for release in kept(layout, source.domain):
        until = kept_until(layout, release, source.name)
        if first and until and first <= str(until + DAY * reach(source)):
            return (
                f"it is about facts of {first}, and those of {source.name} up to {until} have expired: their rollups "
                f"cannot be made again. Nothing was changed. Say it of what happened after "
                f"{until + DAY * reach(source)}."
            )
    return ""
