"""`PENSTOCK_RETENTION` as a night follows it, and as a person asks what it would do: each source in its own books."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from penstock.engine.expiring import Books, expire, going
from penstock.lake import audit
from penstock.lake.code import folder_of
from penstock.lake.layout import Layout
from penstock.lake.ledger import Balance
from penstock.lake.releases import current
from penstock.lake.retention import KEPT, Expiry, last
from penstock.model.domain import code
from penstock.model.retention import BadRetention, Retention, hindrance, retentions
from penstock.ops.watch.hours import balances
from penstock.settings import Settings


@dataclass(frozen=True)
class Plan:
    """What the next nights would take of a source: facts of `rows` up to `until`, which are in files of `bytes`."""

    source: str
    release: str
    keeps_days: int
    rollups_kept_until: date | None
    until: date | None
    days: int
    rows: int
    bytes: int


def night(settings: Settings, now: datetime) -> list[str]:
    """What was done and what waits, a sentence a source."""
    asked = retentions(settings.retention)
    said = balances(settings) if asked else []
    return [retained(settings, one, said, now) for one in asked]


def retained(settings: Settings, one: Retention, said: Iterable[Balance], now: datetime) -> str:
    """One source's night, by what the ledger says of its hours. What was done is in the audit."""
    layout, domain = Layout(settings.lake), one.source.domain
    release = current(layout, domain)
    unbalanced = [each.hour for each in said if each.source == one.source.name and not each.balanced]
    books = Books(layout, release, one, now, unbalanced)
    # The views that facts must stay for are those of the code that made them.
    with code(folder_of(layout, settings.home, domain, release)):
        if why := hindrance(one.source):
            raise BadRetention(f"facts of {one.source.name} must stay in {release}: {why}. Nothing was changed.")
        told = expire(books)
    recorded(layout, one, books.said())
    return told


def recorded(layout: Layout, one: Retention, said: Sequence[Expiry]) -> None:
    """Every step is in the audit, also of a night that was killed before it came to that."""
    known = {entry.operation for entry in audit.entries(layout, one.source.name, limit=sys.maxsize)}
    for each in said:
        operation = f"retention/{each.release}/{each.source}/{each.step}/{each.day}/{each.at:%Y%m%dT%H%M%S}"
        after = {"release": each.release, "step": each.step, "up to": each.day}
        why = f"PENSTOCK_RETENTION keeps {one.days} days"
        if operation not in known:
            audit.record(layout, audit.Entry(operation, "expire", each.source, "airflow", why, after=after))


def plans(settings: Settings, now: datetime) -> Iterator[Plan]:
    layout = Layout(settings.lake)
    for one in retentions(settings.retention):
        release = current(layout, one.source.domain)
        books = Books(layout, release, one, now)
        with code(folder_of(layout, settings.home, one.source.domain, release)):
            files = going(books)
        days = {each.day for each in files}
        kept = last(books.said(), KEPT)
        yield Plan(
            one.source.name,
            release,
            one.days,
            None if kept == date.min else kept,
            max(days, default=None),
            len(days),
            sum(each.rows for each in files),
            sum(each.size for each in files),
        )
