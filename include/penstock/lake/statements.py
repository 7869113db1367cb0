"""What people have stated of a source's records, in the order in which they did: retractions, repairs, revocations.

A rewind goes back in this history too: what was stated after its point is not said any more, what was revoked after it
holds again.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from datetime import UTC, datetime
from typing import ClassVar, Generic, Protocol, TypeVar

import pyarrow as pa

from penstock.lake.appending import append_once
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.rewinds import BEGINNING, Rewind, rewinds


@dataclass(frozen=True)
class Statement:
    """One thing that was stated: its name for ever, and about which records of a source.

    `of` is empty, or the statement that this one revokes. It is about records before the offsets `ends`, of which
    there were so many; `days` were touched.
    """

    # What its rows are flagged with.
    verb: ClassVar[str]

    id: str
    source: str
    _: KW_ONLY
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
        return f"{self.verb}:{self.of or self.id}"


class Dated(Protocol):
    """What was said at a moment."""

    @property
    def at(self) -> datetime: ...


S = TypeVar("S", bound=Statement)
D = TypeVar("D", bound=Dated)
COLUMNS = ("id", "source", "of", "at", "document")
SCHEMA = pa.schema([(name, pa.timestamp("us", "UTC") if name == "at" else pa.string()) for name in COLUMNS])


class NoSuchStatement(LookupError):
    """No statement of this id is in force; the message says which are."""


class Statements(Generic[S]):
    """Everything that was ever stated in `control/<table>`, as `read` makes it of its document."""

    def __init__(self, table: str, read: Callable[..., S]) -> None:
        self._table, self._read = table, read

    def state(self, layout: Layout, said: S) -> S:
        """Writes a statement down, once; the same id again gives what was written then."""
        document = asdict(said)
        document.pop("at")
        row = {"id": said.id, "source": said.source, "of": said.of, "at": datetime.now(UTC)}
        row["document"] = json.dumps(document)
        append_once(layout.control(self._table), SCHEMA, [row], f"{self._table}/{said.id}")
        return next(each for each in self.stated(layout, said.source) if each.id == said.id)

    def stated(self, layout: Layout, source: str) -> list[S]:
        """Everything that was ever stated of a source, oldest first."""
        kept = open_table(layout.control(self._table))
        rows = kept.to_pyarrow_table(filters=[("source", "=", source)]).sort_by("at").to_pylist() if kept else []
        return [self._read(**json.loads(row["document"]), at=row["at"]) for row in rows]

    def known(self, layout: Layout, said: S) -> S | None:
        """What was written under this name before. Of a new one, what it revokes must be in force."""
        written = next((each for each in self.stated(layout, said.source) if each.id == said.id), None)
        if written is None and said.of:
            self.find(layout, said.source, said.of, said.verb)
        return written

    def in_force(self, layout: Layout, source: str) -> list[S]:
        """What is said now, revocations included, in order: what a new release repeats."""
        return standing(layout, source, self.stated(layout, source))

    def find(self, layout: Layout, source: str, wanted: str, verb: str) -> S:
        """A statement of a kind that is in force and revokes nothing itself."""
        known = [each for each in self.in_force(layout, source) if each.verb == verb and not each.of]
        found = [each for each in known if each.id == wanted]
        if not found:
            listed = ", ".join(each.id for each in known) or "none"
            raise NoSuchStatement(f"no {wanted!r} is in force among what is {verb} of {source}; there are: {listed}")
        return found[0]


def standing(layout: Layout, source: str, said: list[D]) -> list[D]:
    """What rewinds have left of what was said of a source, oldest first."""
    domain = source.partition(".")[0]
    gone = [each for each in rewinds(layout) if each.done and each.domain == domain]
    return _history(said, gone, datetime.max.replace(tzinfo=UTC))


def _history(said: list[D], gone: list[Rewind], until: datetime) -> list[D]:
    """As a moment saw it: since the last rewind before it, on top of what that rewind's point saw."""
    before = [each for each in gone if each.at < until]
    last = max(before, key=lambda each: each.at, default=None)
    since = last.at if last else BEGINNING
    base = _history(said, before, last.point_at) if last else []
    return [*base, *(each for each in said if since < each.at <= until)]
