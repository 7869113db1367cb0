"""What was retracted and what was taken back of it: statements in `control/retractions`, in the order they were made.

A statement holds for records up to the offsets at which it was made; what comes later is not judged by it. A rewind
goes back in this history too: what was stated after its point is not said any more, what was revoked after it holds.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

import pyarrow as pa

from penstock.lake.appending import append_once
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.rewinds import BEGINNING, Rewind, rewinds

REASON = "retracted"


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


class NoSuchRetraction(LookupError):
    """No retraction that holds has this id; the message says which there are."""


COLUMNS = ("id", "source", "of", "at", "document")
SCHEMA = pa.schema([(name, pa.timestamp("us", "UTC") if name == "at" else pa.string()) for name in COLUMNS])


def state(layout: Layout, said: Retraction) -> Retraction:
    """Writes a statement down, once; the same id again gives what was written then."""
    at = replace(said, at=datetime.now(UTC))
    row = {"id": at.id, "source": at.source, "of": at.of, "at": at.at}
    document = {name: value for name, value in asdict(at).items() if name != "at"}
    append_once(
        layout.control("retractions"), SCHEMA, [{**row, "document": json.dumps(document)}], f"retraction/{at.id}"
    )
    return next(each for each in stated(layout, said.source) if each.id == said.id)


def stated(layout: Layout, source: str) -> list[Retraction]:
    """Everything that was ever stated of a source, oldest first."""
    table = open_table(layout.control("retractions"))
    rows = table.to_pyarrow_table(filters=[("source", "=", source)]).sort_by("at").to_pylist() if table else []
    return [Retraction(**json.loads(row["document"]), at=row["at"]) for row in rows]


def in_force(layout: Layout, source: str) -> list[Retraction]:
    """What is said now, revocations included, in order: what a new release repeats."""
    domain = source.partition(".")[0]
    gone = [each for each in rewinds(layout) if each.done and each.domain == domain]
    return _history(stated(layout, source), gone, datetime.max.replace(tzinfo=UTC))


def _history(said: list[Retraction], gone: list[Rewind], until: datetime) -> list[Retraction]:
    """As a moment saw it: since the last rewind before it, on top of what that rewind's point saw."""
    before = [each for each in gone if each.at < until]
    last = max(before, key=lambda each: each.at, default=None)
    since = last.at if last else BEGINNING
    base = _history(said, before, last.point_at) if last else []
    return [*base, *(each for each in said if since < each.at <= until)]


def find(layout: Layout, source: str, wanted: str) -> Retraction:
    """A retraction that is in force."""
    known = [each for each in in_force(layout, source) if not each.of]
    found = [each for each in known if each.id == wanted]
    if not found:
        listed = ", ".join(each.id for each in known) or "none"
        raise NoSuchRetraction(f"no retraction {wanted!r} of {source} is in force; there are: {listed}")
    return found[0]
