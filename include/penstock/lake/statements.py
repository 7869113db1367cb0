"""What people have stated of a source's records, in the order in which they did: retractions, repairs, revocations.

A rewind goes back in this history too: what was stated after its point is not said any more, what was revoked after it
holds again.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from penstock.lake.appending import append_once
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.rewinds import BEGINNING, Rewind, rewinds


class Statement(Protocol):
    """A frozen dataclass with a name for ever, the statement that it revokes (or nothing) and when it was made."""

    @property
    def id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def of(self) -> str: ...
    @property
    def days(self) -> Sequence[str]: ...
    @property
    def at(self) -> datetime: ...


S = TypeVar("S", bound=Statement)
COLUMNS = ("id", "source", "of", "at", "document")
SCHEMA = pa.schema([(name, pa.timestamp("us", "UTC") if name == "at" else pa.string()) for name in COLUMNS])


class NoSuchStatement(LookupError):
    """No statement of this id is in force; the message says which are."""


def state(layout: Layout, table: str, said: S) -> S:
    """Writes a statement down, once; the same id again gives what was written then."""
    document: dict[str, Any] = asdict(said)  # type: ignore[call-overload]
    row = {"id": said.id, "source": said.source, "of": said.of, "at": datetime.now(UTC)}
    document.pop("at")
    append_once(layout.control(table), SCHEMA, [{**row, "document": json.dumps(document)}], f"{table}/{said.id}")
    return next(each for each in stated(layout, table, type(said), said.source) if each.id == said.id)


def stated(layout: Layout, table: str, kind: Callable[..., S], source: str) -> list[S]:
    """Everything that was ever stated of a source, oldest first."""
    kept = open_table(layout.control(table))
    rows = kept.to_pyarrow_table(filters=[("source", "=", source)]).sort_by("at").to_pylist() if kept else []
    return [kind(**json.loads(row["document"]), at=row["at"]) for row in rows]


def in_force(layout: Layout, table: str, kind: Callable[..., S], source: str) -> list[S]:
    """What is said now, revocations included, in order: what a new release repeats."""
    domain = source.partition(".")[0]
    gone = [each for each in rewinds(layout) if each.done and each.domain == domain]
    return _history(stated(layout, table, kind, source), gone, datetime.max.replace(tzinfo=UTC))


def _history(said: list[S], gone: list[Rewind], until: datetime) -> list[S]:
    """As a moment saw it: since the last rewind before it, on top of what that rewind's point saw."""
    before = [each for each in gone if each.at < until]
    last = max(before, key=lambda each: each.at, default=None)
    since = last.at if last else BEGINNING
    base = _history(said, before, last.point_at) if last else []
    return [*base, *(each for each in said if since < each.at <= until)]


def find(layout: Layout, table: str, kind: Callable[..., S], source: str, wanted: str) -> S:
    """A statement that is in force and revokes nothing itself."""
    known = [each for each in in_force(layout, table, kind, source) if not each.of]
    found = [each for each in known if each.id == wanted]
    if not found:
        listed = ", ".join(each.id for each in known) or "none"
        raise NoSuchStatement(f"no {wanted!r} of {source} is in force among its {table}; there are: {listed}")
    return found[0]
