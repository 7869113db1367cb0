"""What the books say of a range: how many records were rejected, and whether its days were declared final.

Looked at beside the questions, as that reads the whole ledger and what silver's log counts of each file.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate
from time import monotonic

from penstock.lake.days import latest, rows_by_day
from penstock.lake.layout import Layout
from penstock.lake.ledger import booked
from penstock.lake.publication import open_table
from penstock.model.domain import domains
from penstock.serve.standing import Standing

# An hour is booked when it closes, and a day is declared final at night.
SECONDS = 15.0


@dataclass(frozen=True)
class Hours:
    """What was rejected of one source: `until[n]` in all hours before the n-th."""

    starts: tuple[datetime, ...]
    until: tuple[int, ...]

    def rejected(self, start: datetime, end: datetime) -> int:
        first = start.replace(minute=0, second=0, microsecond=0)
        return self.until[bisect_left(self.starts, end)] - self.until[bisect_left(self.starts, first)]


@dataclass(frozen=True)
class Days:
    """The days of one source that have rows of silver, and those of them that are final."""

    held: frozenset[date]
    final: frozenset[date]

    def covers(self, first: date, last: date) -> bool:
        """Whether all of them are final. A day without rows has nothing to declare, once a later one is final."""
        ended = bool(self.final) and last <= max(self.final)
        return ended and all(day in self.final for day in self.held if first <= day <= last)


class Books:
    """Over one lake. What a look fails to read stays as it was."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._hours: Mapping[tuple[str, str], Hours] = {}
        self._days: Mapping[tuple[str, str], Days] = {}
        self._ledger: object = None
        self._until = 0.0

    def refresh(self, standing: Standing) -> set[str]:
        """Looks again, if the last look was some time ago. No view changes by it."""
        if monotonic() < self._until:
            return set()
        self._until = monotonic() + SECONDS
        ledger, releases = open_table(self._layout.ledger()), {standing.release(name) for name in domains()}
        now = ledger.version() if ledger else -1, releases
        if now != self._ledger:
            self._hours = dict(hours(self._layout, releases))
            self._ledger = now
        self._days = dict(days(self._layout, standing))
        return set()

    def rejected(self, release: str, source: str, start: datetime, end: datetime) -> int | None:
        """Records rejected in the hours that the range touches, by when the log took them; None: nothing is booked."""
        found = self._hours.get((release, source))
        return found.rejected(start, end) if found else None

    def final(self, release: str, source: str, start: datetime, end: datetime) -> bool:
        """Whether every day of the range was declared final, and has got no row since."""
        found = self._days.get((release, source))
        return found is not None and found.covers(start.date(), (end - timedelta(microseconds=1)).date())


def hours(layout: Layout, releases: set[str]) -> Iterator[tuple[tuple[str, str], Hours]]:
    for release in releases:
        of: dict[str, dict[datetime, int]] = {}
        for (source, hour), counts in booked(layout.ledger(), release)[0].items():
            of.setdefault(source, {})[hour] = counts["rejected"]
        for source, rejected in of.items():
            starts = tuple(sorted(rejected))
            yield (release, source), Hours(starts, tuple(accumulate(map(rejected.__getitem__, starts), initial=0)))


def days(layout: Layout, standing: Standing) -> Iterator[tuple[tuple[str, str], Days]]:
    for source in (source for domain in domains().values() for source in domain.sources):
        release = standing.release(source.domain)
        said = {day.day: day for day in latest(layout, release, source.name) if day.final}
        # Most of the time it takes is silver's; a source without a final day is not asked for it.
        held = rows_by_day(layout.silver(release, source.name)) if said else {}
        final = frozenset(day for day, rows in held.items() if day in said and said[day].final_at(rows))
        yield (release, source.name), Days(frozenset(held), final)
