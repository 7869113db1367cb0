"""Repairs of rejected records, named and revocable: statements in `control/repairs`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from penstock.lake import statements
from penstock.lake.layout import Layout
from penstock.lake.rewinds import BEGINNING

TABLE = "repairs"


@dataclass(frozen=True)
class Repair:
    """What is done to the JSON of records that were rejected for a reason: fields renamed, cast, given a default.

    `of` is empty, or the repair that this one revokes. It is about records before the offsets `ends`.
    """

    id: str
    source: str
    reason: str = ""
    rename: Mapping[str, str] = field(default_factory=dict)
    cast: Mapping[str, str] = field(default_factory=dict)
    default: Mapping[str, Any] = field(default_factory=dict)
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
        return f"repaired:{self.of or self.id}"


def state(layout: Layout, said: Repair) -> Repair:
    """Writes it down, once; the same id again gives what was written then."""
    return statements.state(layout, TABLE, said)


def stated(layout: Layout, source: str) -> list[Repair]:
    return statements.stated(layout, TABLE, Repair, source)


def in_force(layout: Layout, source: str) -> list[Repair]:
    return statements.in_force(layout, TABLE, Repair, source)


def find(layout: Layout, source: str, wanted: str) -> Repair:
    return statements.find(layout, TABLE, Repair, source, wanted)
