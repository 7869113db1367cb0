"""Takes a restore point: every table's version and every stream's place, consistent for each source, copying nothing.

A source's silver is read before and after its views: where it did not move meanwhile, its speed tables hold every
epoch but perhaps its last, which a rewind completes. Speed before gold: what a build takes from one is in the other.
"""

import uuid
from datetime import UTC, datetime

from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from penstock.engine.checkpoints import Place, book, ends, notes, places
from penstock.lake import code
from penstock.lake.layout import Layout
from penstock.lake.releases import Refused, current, kept, registry
from penstock.lake.restore_points import Pin, RestorePoint, Stand, keep
from penstock.model.domain import Domain, domains, views_of
from penstock.model.source import Source

# Reading thirty versions takes a tenth of an epoch: the second or third try finds silver at rest.
ATTEMPTS = 100
Pins = dict[str, Pin]


class Restless(RuntimeError):
    """Silver never stood still for as long as it takes to look at its views. No point was taken."""


def take(layout: Layout, kind: str, by: str, why: str) -> RestorePoint:
    """Pins the whole lake as it is now, and writes the point down."""
    at = datetime.now(UTC)
    tables: Pins = {}
    streams: dict[str, Stand] = {}
    for domain in domains().values():
        for source in domain.sources:
            tables |= pins(layout, [layout.bronze(source.name)])
            for release in releases(layout, domain):
                tables |= _steady(layout, release, source)
                streams |= _stand(layout, places(layout, source.name, release)[1])
    pointers = {domain: current(layout, domain) for domain in domains()}
    # The deployed code is kept in the lake under its hash: whoever goes back can also run what ran then.
    deployed = {domain: deployed_now for domain in domains() if (deployed_now := _code(layout, domain))}
    name = f"{at:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:4]}"
    point = RestorePoint(name, at, kind, by, why, tables, streams, pointers, deployed)
    keep(layout, point)
    return point


def _code(layout: Layout, domain: str) -> str:
    try:
        return code.pin(layout, domain, code.files_of("", domain)[1])
    except Refused:
        # The domain comes from elsewhere on Python's path, and whoever put it there keeps its code.
        return ""


def releases(layout: Layout, domain: Domain) -> list[str]:
    """Every release of a domain that there ever was."""
    return sorted(registry(layout, domain.name).releases)


def view_tables(layout: Layout, release: str, source: Source) -> tuple[list[str], list[str]]:
    """The speed and the gold tables of a source's views."""
    views = [view.name for view in views_of(source)]
    return [layout.speed(release, view) for view in views], [layout.gold(release, view) for view in views]


def named(layout: Layout, path: str) -> str:
    """A table's path below the root, by which points know it wherever the lake is."""
    return path.removeprefix(layout.root).strip("/")


def pins(layout: Layout, paths: list[str]) -> Pins:
    """Those of the tables that exist, by their path below the root."""
    found = {named(layout, path): pin(path) for path in paths}
    return {name: pinned for name, pinned in found.items() if pinned}


def pin(path: str) -> Pin | None:
    """The table's version and identity now."""
    try:
        table = DeltaTable(path)
    except TableNotFoundError:
        return None
    return Pin(table.version(), str(table.metadata().id))


def _steady(layout: Layout, release: str, source: Source) -> Pins:
    silver = layout.silver(release, source.name)
    speed, gold = view_tables(layout, release, source)
    for _ in range(ATTEMPTS):
        before = pins(layout, [silver])
        views = {**pins(layout, speed), **pins(layout, gold)}
        if pins(layout, [silver]) == before:
            return {**before, **views}
    raise Restless(f"{silver} gained a version in each of {ATTEMPTS} looks. No point was taken: try again.")


def note(table: DeltaTable) -> tuple[str, int] | None:
    """The query that wrote the table's last epoch, and that epoch's number."""
    said = next(iter(notes(table)), None)
    return (said["query"], int(said["epoch"])) if said else None


def offsets_of(layout: Layout, source: Source) -> dict[str, int]:
    """Up to where every release that is kept up has shaped a source."""
    stands = [_stand(layout, places(layout, source.name, release)[1]) for release in kept(layout, source.domain)]
    ends = [one.offsets for stand in stands for one in stand.values()]
    parts = {part for each in ends for part in each}
    return {part: min(each.get(part, 0) for each in ends) for part in sorted(parts)}


def _stand(layout: Layout, place: Place) -> dict[str, Stand]:
    try:
        said = note(DeltaTable(place.table))
    except TableNotFoundError:
        return {}
    if said is None:
        return {}
    query, epoch = said
    try:
        offsets = {str(part): next_one for part, next_one in ends(place, epoch).items()}
    except (OSError, ValueError, KeyError, IndexError):
        # The checkpoint is lost or was not rebuilt yet: the table knows as well, only slower.
        written = book(place.table)
        offsets = dict(written.after) if written else {}
    return {named(layout, place.table): Stand(query, epoch, offsets)}
