"""The releases of each domain: which there are, what made them, and which one readers see. Read without a JVM.

`control/releases` is append-only. Each row says something `about` one release (its state, code, who and why) and names
in `release` the one that is current from this row on: a switch is one row, and whoever only looks for the newest row of
a domain has always known the pointer.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from penstock.lake.appending import append, opened
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.publication import open_table

# building: its batch plan runs, or waits (paused). ready: readers may be switched to it, its stream keeps up. retired:
# it stands still.
BUILDING, PAUSED, READY, RETIRED, DROPPED = "building", "paused", "ready", "retired", "dropped"
UNFINISHED = (BUILDING, PAUSED)
NOT_READY = {
    BUILDING: "Its replay is not done yet; wait for it, or look at why it does not go on",
    PAUSED: "Its replay waits until somebody lets it go on: `penstock replay --resume`",
    RETIRED: "It stands still since then and lacks what came later",
    DROPPED: "Its tables are gone",
}
NEVER_AGAIN = (RETIRED, DROPPED)
RETRIES = 50


class Refused(RuntimeError):
    """What was asked cannot be done to this release; nothing was changed, and the message says what can."""


@dataclass(frozen=True)
class Release:
    """The last word on one release. `code` is its name, `hash` its content; both empty: what is deployed."""

    domain: str
    about: str
    state: str
    code: str = ""
    hash: str = ""
    sources: str = ""
    first: str = ""
    last: str = ""
    who: str = ""
    why: str = ""
    operation: str = ""
    # The one view that was replayed; empty: whatever was replayed, every view was built.
    view: str = ""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Row(Release):
    """As it is stored: with the pointer, and the row's number in its domain."""

    release: str = FIRST_RELEASE
    number: int = 0


TYPES = {"at": pa.timestamp("us", "UTC"), "number": pa.int64()}
SCHEMA = pa.schema([(each.name, TYPES.get(each.name, pa.string())) for each in fields(Row)])


@dataclass(frozen=True)
class Registry:
    """Everything that was said of one domain's releases, oldest first."""

    domain: str
    rows: tuple[Row, ...] = ()

    @property
    def number(self) -> int:
        return self.rows[-1].number if self.rows else -1

    @property
    def current(self) -> str:
        return self.rows[-1].release if self.rows else FIRST_RELEASE

    @property
    def releases(self) -> dict[str, Row]:
        """By name; the first one is there without having been said."""
        return {FIRST_RELEASE: Row(self.domain, FIRST_RELEASE, READY), **{row.about: row for row in self.rows}}

    @property
    def kept(self) -> list[str]:
        """Releases whose silver and gold are kept up: the current one and those that may become it."""
        return [name for name, each in self.releases.items() if each.state == READY]

    @property
    def previous(self) -> str | None:
        """The release that was current before the current one."""
        pointers = [FIRST_RELEASE, *(row.release for row in self.rows)]
        before = [after for after, now in pairwise(pointers) if now == self.current != after]
        return before[-1] if before else None

    def get(self, name: str) -> Row:
        if name not in self.releases:
            raise Refused(f"{self.domain} has no release {name!r}; there are: {', '.join(self.releases)}.")
        return self.releases[name]

    def base(self, name: str) -> str:
        """The release that was current when one was begun: what it takes over, it takes from there."""
        return next(row.release for row in self.rows if row.about == name)

    def must_be_ready(self, name: str) -> Row:
        """The release, if readers may be switched to it."""
        release = self.get(name)
        if release.state in NOT_READY:
            raise Refused(
                f"{self.domain} {name} is {release.state} since {release.at:%Y-%m-%d}. {NOT_READY[release.state]}. "
                f"{_instead(release)}Nothing was switched."
            )
        return release

    def until(self, name: str, days: float) -> datetime | None:
        """Until when a release that nobody reads is kept up, at least; None: it is current, or not kept up."""
        return self.since(name) + timedelta(days=days) if name in self.kept and name != self.current else None

    def since(self, name: str) -> datetime:
        """When anything was last said of a release, or readers last left it."""
        begun = datetime.min.replace(tzinfo=UTC)
        left = [now.at for before, now in pairwise(self.rows) if before.release == name != now.release]
        first = [self.rows[0].at] if self.rows and name == FIRST_RELEASE != self.rows[0].release else []
        return max([begun, *left, *first, *(row.at for row in self.rows if row.about == name)])

    def next_name(self) -> str:
        return f"r{max(int(name[1:]) for name in self.releases) + 1}"


def current(layout: Layout, domain: str) -> str:
    """The release that readers of a domain see; the first one where nothing was switched."""
    return registry(layout, domain).current


def pointers(table: DeltaTable | None) -> dict[str, str]:
    """Domain -> release."""
    return {domain: each.current for domain, each in registries(table).items()}


def registry(layout: Layout, domain: str) -> Registry:
    return registries(open_table(layout.control("releases"))).get(domain, Registry(domain))


def kept(layout: Layout, domain: str) -> list[str]:
    """What must be kept right and up to date: retractions and repairs apply to each of these."""
    return registry(layout, domain).kept


Decision = Callable[[Registry], Iterable[Row]]


def commit(layout: Layout, domain: str, decide: Decision) -> Registry:
    """Appends what `decide` makes of the registry, in one commit; decides again when somebody else was quicker."""
    for _ in range(RETRIES):
        table = opened(layout.control("releases"), SCHEMA)
        now = registries(table).get(domain, Registry(domain))
        rows = _numbered(now, list(decide(now)))
        # Two decisions on one domain carry the same transaction: the later commit is refused, whatever it appends.
        if not rows or append(table, SCHEMA, [asdict(row) for row in rows], f"releases/{domain}", rows[-1].number):
            return Registry(domain, (*now.rows, *rows))
    raise Refused(f"the releases of {domain} are changed by many at once; nothing was changed here. Ask again.")


def switch(layout: Layout, domain: str, to: str, who: str, why: str, operation: str = "") -> tuple[str, str]:
    """Moves the pointer: from, to. `to` may be `previous`, which is how a switch is reverted.

    Asked again by the same operation, or for the release that is current, it changes nothing.
    """
    moved: dict[str, str] = {}

    def decide(now: Registry) -> Iterable[Row]:
        done = next((row for row in now.rows if operation and row.operation == operation), None)
        name = done.about if done else (now.previous or "") if to == PREVIOUS else to
        if not name:
            raise Refused(f"{domain} was never switched, so there is nothing to revert: {now.current} is its first.")
        moved.update({"from": _before(now, done) if done else now.current, "to": name})
        if done or name == now.current:
            return []
        return [replace(now.must_be_ready(name), release=name, who=who, why=why, operation=operation)]

    commit(layout, domain, decide)
    return moved["from"], moved["to"]


PREVIOUS = "previous"


def say(layout: Layout, release: Release) -> Registry:
    """Records a release's new state. The pointer stays where it is."""
    return commit(layout, release.domain, lambda now: [_row(now, release)])


def retire(layout: Layout, domain: str, now: datetime, days: float) -> list[str]:
    """Lets releases stand still that nobody has read, or made, for so long. Their streams end; dropping is separate."""
    retired: list[str] = []
    why = f"nobody has read it for {days:g} days"

    def decide(known: Registry) -> list[Row]:
        retired[:] = [name for name in known.kept if (until := known.until(name, days)) and until < now]
        return [replace(known.get(name), state=RETIRED, release=known.current, who="", why=why) for name in retired]

    commit(layout, domain, decide)
    return retired


def _instead(release: Row) -> str:
    """What to do where a release will never be ready again."""
    if release.state not in NEVER_AGAIN:
        return ""
    return (
        f"Replay its code ({release.code or 'what was deployed then'}) into a new release and switch to that: "
        f"`penstock replay --domain {release.domain} --code … --why …`. "
    )


def _before(now: Registry, done: Row) -> str:
    return next((row.release for row in reversed(now.rows) if row.number < done.number), FIRST_RELEASE)


def _row(now: Registry, release: Release) -> Row:
    return Row(**{each.name: getattr(release, each.name) for each in fields(Release)}, release=now.current)


def _numbered(now: Registry, rows: list[Row]) -> list[Row]:
    """In order, by number and by time: a clock that goes back must not hide a switch from those who sort by it."""
    least = now.rows[-1].at + timedelta(microseconds=1) if now.rows else datetime.min.replace(tzinfo=UTC)
    at = max(datetime.now(UTC), least)
    return [
        replace(row, number=now.number + 1 + nth, at=at + timedelta(microseconds=nth)) for nth, row in enumerate(rows)
    ]


def registries(table: DeltaTable | None) -> dict[str, Registry]:
    told: dict[str, list[Row]] = {}
    if table is not None:
        for row in table.to_pyarrow_table().sort_by("number").to_pylist():
            # A table may be older than a column, which then says nothing.
            said = {name: value for name, value in row.items() if value is not None}
            told.setdefault(row["domain"], []).append(Row(**said))
    return {domain: Registry(domain, tuple(rows)) for domain, rows in told.items()}
