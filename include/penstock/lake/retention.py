"""Which days of a source have expired: `control/retention`, append-only, one row a step.

A day is announced first: what the log takes of it from then on is rejected. When all that came before is counted, its
rollups are kept as they are, whoever builds; then its rows of silver are emptied: docs/decisions/0027.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime

import pyarrow as pa
from deltalake import write_deltalake

from penstock.lake.following import Followed
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.statements import standing

ANNOUNCED, KEPT, EMPTIED = "announced", "kept", "emptied"
# The reason of a fact that came after its day had expired, and the flag of a row that was emptied.
EXPIRED = "expired"
# SQL of a row that was not.
WHOLE = f"not list_contains(coalesce(flags, []), '{EXPIRED}')"


@dataclass(frozen=True)
class Expiry:
    """Days up to `day` are this far. `since`: what the log took from this moment on comes after an announcement."""

    source: str
    release: str
    step: str
    day: date
    since: datetime
    at: datetime


MOMENT = pa.timestamp("us", "UTC")
TYPES = {"day": pa.date32(), "since": MOMENT, "at": MOMENT}
SCHEMA = pa.schema([(name, TYPES.get(name, pa.string())) for name in Expiry.__dataclass_fields__])


def book(layout: Layout) -> str:
    return layout.control("retention")


def note(layout: Layout, said: Expiry) -> None:
    write_deltalake(book(layout), pa.Table.from_pylist([asdict(said)], SCHEMA), mode="append")


def expiries(layout: Layout, release: str, source: str) -> list[Expiry]:
    """What was done to a source's days that no rewind took back, oldest first."""
    table = open_table(book(layout))
    if table is None:
        return []
    rows = table.to_pyarrow_table(filters=[("source", "=", source), ("release", "=", release)]).sort_by("at")
    return standing(layout, source, [Expiry(**row) for row in rows.to_pylist()])


def last(said: Sequence[Expiry], step: str) -> date:
    """The last day that is so far; the calendar's first where none is."""
    return max((each.day for each in said if each.step == step), default=date.min)


def kept_until(layout: Layout, release: str, source: str) -> date | None:
    """The last day whose rollups stay as they are; None where every day can still be built."""
    day = last(expiries(layout, release, source), KEPT)
    return None if day == date.min else day


class Announced:
    """A source's announcements as a stream looks at them in each epoch: read again only when there are more.

    A rewind stops the stream, which looks again when it starts.
    """

    def __init__(self, layout: Layout, release: str, source: str) -> None:
        self._of = layout, release, source
        self._table = Followed(book(layout))
        self._read: tuple[int, Sequence[Expiry]] = -1, ()

    def now(self) -> Sequence[Expiry]:
        version = self._table.look()
        if version != self._read[0]:
            self._read = version, announced(*self._of)
        return self._read[1]


def announced(layout: Layout, release: str, source: str) -> list[Expiry]:
    return [each for each in expiries(layout, release, source) if each.step == ANNOUNCED]
