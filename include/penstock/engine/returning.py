"""A rewind as an operator asks for it: looked at first, streams halted, gone back, written into the audit."""

from collections.abc import Callable, Iterator

from penstock.engine.checkpoints import heal, places
from penstock.engine.gaps import Gap, gaps
from penstock.engine.halting import halted, shapes_of
from penstock.engine.pinning import named as path_of
from penstock.engine.pinning import pins
from penstock.engine.rewind import rewind
from penstock.engine.ways import CannotRewind, Way, ways
from penstock.lake import audit
from penstock.lake.erasures import since
from penstock.lake.layout import Layout
from penstock.lake.releases import kept
from penstock.lake.restore_points import RestorePoint, find
from penstock.lake.rewinds import Rewind, ended, named, refuse_unfinished, unfinished
from penstock.model.domain import domains
from penstock.model.source import Source
from penstock.settings import Settings

Build = Callable[[str, Source], object]
# Every domain of the lake.
ALL = "all"


def text(settings: Settings, domain: str, wanted: str) -> str:
    """What would change, as a table for a person. Changes nothing; raises where it cannot be done."""
    layout = Layout(settings.lake)
    point = find(layout, wanted)
    chosen = chosen_of(settings, point, domain)
    rows = [way.as_dict() for found in chosen.values() for way in found]
    moved = [row for row in rows if row["from"] != row["to"]]
    head = f"Back to {point.id} ({point.at:%Y-%m-%d %H:%M:%S} UTC, {point.why}): {', '.join(chosen) or 'nothing'}.\n\n"
    lines = [
        f"| {row['table']} | {row['from']} | {row['to']} | {row['rows']:,} | {row['rows_then']:,} |" for row in moved
    ]
    table = "\n".join(["| table | version | goes to | rows | will be |", "|---|---|---|---|---|", *lines])
    erased = sum(each.records for name in chosen for each in since(layout, name, point.at))
    stays = f" {erased:,} records were erased since and stay erased; all views are built again." if erased else ""
    return (
        f"{head}{table if moved else 'Nothing has changed since.'}\n\nStreams then shape again what the log has since: "
        f"no event is lost.{stays} The present is kept as a restore point, so that this can be undone the same way."
    )


def chosen_of(settings: Settings, point: RestorePoint, domain: str) -> dict[str, list[Way]]:
    """Every table's way of a domain, or of each that has any. Raises where one of them cannot go."""
    if domain != ALL:
        return {domain: looked_at(settings, point, domain)}
    found = {name: looked_at(settings, point, name) for name in domains()}
    return {name: theirs for name, theirs in found.items() if theirs}


def looked_at(settings: Settings, point: RestorePoint, domain: str) -> list[Way]:
    """Every table's way, once the log is known to have all that must be shaped again."""
    layout = Layout(settings.lake)
    found = ways(layout, point, domain)
    if lost := list(_lost(settings, layout, point, domain)):
        raise CannotRewind(
            f"the log no longer has what came after that point: {'; '.join(map(str, lost))}. Nothing was changed. "
            f"Bronze has those records: `penstock replay {domain}` makes a release of them; or choose a later point."
        )
    return found


def _lost(settings: Settings, layout: Layout, point: RestorePoint, domain: str) -> Iterator[Gap]:
    for source in domains()[domain].sources:
        for release in kept(layout, domain):
            silver = path_of(layout, layout.silver(release, source.name))
            # A table that stays where it is needs nothing of the log.
            if silver in point.tables and pins(layout, [f"{layout.root}/{silver}"]).get(silver) != point.tables[silver]:
                stand = point.streams.get(silver)
                wanted = {int(part): offset for part, offset in stand.offsets.items()} if stand else {}
                yield from gaps(settings.kafka, source.name, wanted)


def go_back(
    settings: Settings,
    domain: str,
    wanted: str,
    operation: str,
    who: str,
    why: str,
    approved_by: str = "",
    build: Build = lambda release, source: None,
) -> str:
    """Halts the domain's shapes, rewinds and records it. Done again after a crash, it ends what was begun.

    `build` makes a source's views of silver as it then is: views of before an erasure cannot be gone back to. Of the
    whole lake every domain is looked at before the first one goes.
    """
    layout = Layout(settings.lake)
    names = [domain] if domain != ALL else [*domains()]
    begun = {name: one for name in names if (one := unfinished(layout, name) or ended(layout, named(operation, name)))}
    known = next((one.point for one in begun.values() if one.point.startswith(wanted)), wanted)
    point = find(layout, known)
    for name, one in begun.items():
        if one.point != point.id:
            refuse_unfinished(layout, name)
    new = {name: looked_at(settings, point, name) for name in names if name not in begun}
    done = [
        _gone_back(settings, point, name, operation, (who, why), build)
        for name in names
        # A domain of which there is nothing has nowhere to go, unless it is the one that was asked for.
        if name in begun or new[name] or name == domain
    ]
    # The first one saved the whole lake as it was. Not the least id: two of one second are in no order.
    saved = done[0].saved if done else ""
    epochs = {path: epoch for one in done for path, epoch in one.epochs.items()}
    before, after = {"restore_point": saved}, {"restore_point": point.id, "epochs": epochs}
    audit.record(layout, audit.Entry(operation, "rewind", domain, who, why, approved_by, before, after))
    what = domain if domain != ALL else f"the lake ({', '.join(one.domain for one in done)})"
    return f"{what} is at {point.id}; the state before is kept as {saved}"


def _gone_back(
    settings: Settings, point: RestorePoint, domain: str, operation: str, said: tuple[str, str], build: Build
) -> Rewind:
    layout = Layout(settings.lake)
    shapes = [name for source in domains()[domain].sources for name in shapes_of(layout, source)]
    with halted(settings.home, shapes):
        done = rewind(layout, point, domain, *said, operation)
        for source in domains()[domain].sources:
            for release in kept(layout, domain):
                heal(places(layout, source.name, release)[1])
                if since(layout, domain, point.at):
                    build(release, source)
    return done
