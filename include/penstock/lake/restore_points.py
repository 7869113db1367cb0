"""Restore points: every table's version and every stream's place at one moment, in `control/restore_points`.

A point copies nothing: it names versions that Delta still has, and the one vacuum that there is spares their files.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from penstock.lake.appending import append_once
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table

# Delta itself forgets which files an old version had after 30 days; a point that is older is of no use.
KEPT = {"publish": timedelta(days=7), "daily": timedelta(days=30), "hand": timedelta(days=30)}


@dataclass(frozen=True)
class Pin:
    """One table at one version. `identity` tells it from another table that was made at the same place later."""

    version: int
    identity: str


@dataclass(frozen=True)
class Stand:
    """How far the stream of a silver table was: its query, its last epoch, and the offsets that it reads next."""

    query: str
    epoch: int
    offsets: Mapping[str, int]


@dataclass(frozen=True)
class RestorePoint:
    """`kind` is why it was taken: publish, daily or hand. Paths are below the lake's root."""

    id: str
    at: datetime
    kind: str
    by: str
    why: str
    tables: Mapping[str, Pin] = field(default_factory=dict)
    streams: Mapping[str, Stand] = field(default_factory=dict)
    releases: Mapping[str, str] = field(default_factory=dict)
    # Domain -> the hash under which the lake keeps the code that was deployed.
    code: Mapping[str, str] = field(default_factory=dict)

    @property
    def until(self) -> datetime:
        """When vacuum stops sparing it."""
        return self.at + KEPT[self.kind]

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "at": self.at.isoformat(), "until": self.until.isoformat()}


class NoSuchPoint(LookupError):
    """No restore point has this id, or it has expired; the message says which there are."""


COLUMNS = ("id", "at", "kind", "by", "why", "document")
PINNED = ("tables", "streams", "releases", "code")
SCHEMA = pa.schema([(name, pa.timestamp("us", "UTC") if name == "at" else pa.string()) for name in COLUMNS])


def keep(layout: Layout, point: RestorePoint) -> None:
    """Writes a point down."""
    named = asdict(point)
    pinned = {name: named.pop(name) for name in PINNED}
    row = {**named, "document": json.dumps(pinned)}
    append_once(layout.control("restore_points"), SCHEMA, [row], f"restore_point/{point.id}")


def points(layout: Layout, now: datetime | None = None) -> list[RestorePoint]:
    """Every point that has not expired, newest first."""
    table = open_table(layout.control("restore_points"))
    rows = table.to_pyarrow_table().sort_by([("at", "descending")]).to_pylist() if table else []
    return [point for point in map(_point, rows) if point.until > (now or datetime.now(UTC))]


def _point(row: dict[str, Any]) -> RestorePoint:
    pinned = json.loads(row.pop("document"))
    tables = {path: Pin(**pin) for path, pin in pinned["tables"].items()}
    streams = {path: Stand(**stand) for path, stand in pinned["streams"].items()}
    return RestorePoint(**row, **{**pinned, "tables": tables, "streams": streams})


def find(layout: Layout, wanted: str) -> RestorePoint:
    """The point of this id, of an unambiguous beginning of it, or `latest`."""
    known = points(layout)
    found = known[:1] if wanted == "latest" else [point for point in known if point.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(point.id for point in known[:5]) or "none"
    raise NoSuchPoint(f"{len(found)} restore points are called {wanted!r}; the newest are: {listed}")


def pinned(layout: Layout, kept: Iterable[RestorePoint], path: str) -> list[int]:
    """The versions of one table that points still name."""
    name = path.removeprefix(layout.root).strip("/")
    return sorted({point.tables[name].version for point in kept if name in point.tables})


def forget(layout: Layout, now: datetime) -> int:
    """Removes points that expired; returns how many rows went."""
    table = open_table(layout.control("restore_points"))
    if table is None:
        return 0
    old = [f"(kind = '{kind}' and at < '{(now - kept).isoformat()}')" for kind, kept in KEPT.items()]
    return int(table.delete(" or ".join(old))["num_deleted_rows"] or 0)
