"""The way back of every table of a domain to a restore point: what would change, and what stands in the way."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from penstock.engine.pinning import named, pin, view_tables
from penstock.lake.erasures import since
from penstock.lake.files import file_list, size_of
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.place import place
from penstock.lake.releases import READY, kept, registry
from penstock.lake.restore_points import Pin, RestorePoint
from penstock.model.domain import domains
from penstock.model.source import Source


class CannotRewind(RuntimeError):
    """The point cannot be gone back to. Nothing was changed; the message says which table stands in the way."""


@dataclass(frozen=True)
class Way:
    """One table's way. `then` None: the point knows no such table, so it goes back to having no rows."""

    path: str
    kind: str
    release: str
    source: str
    now: Pin | None
    then: Pin | None

    def as_dict(self) -> dict[str, Any]:
        """For a person: versions and rows, before and after."""
        versions = {"from": self.now.version if self.now else None, "to": self.then.version if self.then else None}
        rows_then = size_of(self.path, self.then.version)[0] if self.then else 0
        counts = {"rows": size_of(self.path)[0], "rows_then": rows_then}
        return {"table": f"{self.kind}/{self.release}/{Path(self.path).name}", **versions, **counts}


def ways(layout: Layout, point: RestorePoint, domain: str) -> list[Way]:
    """Every table's way, in the order in which it is gone. Raises where one cannot be."""
    to = registry(layout, domain).get(point.releases.get(domain, FIRST_RELEASE))
    if to.state != READY:
        raise CannotRewind(f"readers saw {to.about} at that point, and it is {to.state} now. Nothing was changed.")
    found = [way for source in domains()[domain].sources for way in _of_source(layout, point, source)]
    hindered = [sentence for way in found if (sentence := _hindrance(way))]
    if hindered:
        raise CannotRewind(f"{'; '.join(hindered)}. Nothing was changed. Choose a later point, or rebuild the table.")
    return found


def _of_source(layout: Layout, point: RestorePoint, source: Source) -> Iterator[Way]:
    # A release that came after the point stays as it is; a source that came after it goes back to having no rows.
    erased = bool(since(layout, source.domain, point.at))
    for release in sorted({*kept(layout, source.domain)} & _known(point, source.domain)):
        # Views that held who was erased since are gone: they stay as they are until silver, gone back, is built again.
        speed, gold = ([], []) if erased else view_tables(layout, release, source)
        # Readers take speed first, then gold: in between they see the last build, and never a number twice.
        for kind, paths in (("speed", speed), ("gold", gold), ("silver", [layout.silver(release, source.name)])):
            for path in paths:
                now, then = pin(path), point.tables.get(named(layout, path))
                if now or then:
                    yield Way(path, kind, release, source.name, now, then)


def _known(point: RestorePoint, domain: str) -> set[str]:
    """The releases of a domain that a point knows: silver/<release>/<domain>.<source>."""
    parts = [name.split("/") for name in point.tables if name.startswith("silver/")]
    return {release for _, release, name in parts if name.startswith(f"{domain}.")}


def _hindrance(way: Way) -> str:
    if way.then is None:
        return ""
    if way.now is None:
        return f"{way.path} was deleted since"
    if way.now.identity != way.then.identity:
        return f"{way.path} was made anew since"
    try:
        files = file_list(DeltaTable(way.path, version=way.then.version))
    except Exception as error:
        return f"{way.path} no longer knows its version {way.then.version} ({type(error).__name__})"
    lost = [file.uri for file in files if not place(file.uri).there()]
    return f"{way.path} lacks {len(lost)} files of version {way.then.version}" if lost else ""
