"""What was retracted and what was taken back of it: statements in `control/retractions`.

A statement holds for records up to the offsets at which it was made; what comes later is not judged by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from penstock.lake import statements
from penstock.lake.layout import Layout
from penstock.lake.rewinds import BEGINNING
from penstock.lake.statements import NoSuchStatement

REASON = "retracted"
TABLE = "retractions"


@dataclass(frozen=True)
class Retraction:
    """`where` is a condition on facts, from `first` up to but not including `last` (happened_at; empty: open).

    `of` is empty, or the retraction that this one revokes, whole or where the condition holds. `days` were touched.
    """

    id: str
    source: str
    where: str
    first: str = ""
    last: str = ""
    of: str = ""
    by: str = ""
    why: str = ""
    ends: Mapping[str, int] = field(default_factory=dict)
    days: Sequence[str] = ()
    records: int = 0
    at: datetime = BEGINNING

    @property
    def mark(self) -> str:
        """The flag that its rows carry."""
        return f"{REASON}:{self.of or self.id}"


NoSuchRetraction = NoSuchStatement


def state(layout: Layout, said: Retraction) -> Retraction:
    """Writes it down, once; the same id again gives what was written then."""
    return statements.state(layout, TABLE, said)


def stated(layout: Layout, source: str) -> list[Retraction]:
    return statements.stated(layout, TABLE, Retraction, source)


def in_force(layout: Layout, source: str) -> list[Retraction]:
    return statements.in_force(layout, TABLE, Retraction, source)


def find(layout: Layout, source: str, wanted: str) -> Retraction:
    return statements.find(layout, TABLE, Retraction, source, wanted)
