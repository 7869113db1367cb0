"""Begins a replay: what can be refused is refused here, before a JVM starts; then the release has its name."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from penstock.lake import views_anew
from penstock.lake.code import files_of, pin, unpacked
from penstock.lake.files import size_of
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import (
    BUILDING,
    READY,
    UNFINISHED,
    Refused,
    Registry,
    Release,
    Row,
    commit,
    current,
    registry,
    say,
)
from penstock.lake.retention import kept_until
from penstock.model.domain import Domain, domains, load
from penstock.model.view import source_of

# Of one core, with all views: of ten million records two free cores had 92,000 a second (docs/decisions/0081), and live
# streams have their share first. Then what is the same for few records: starts, gates and commits.
RECORDS_A_SECOND = 40_000
START_SECONDS = 20
# Of one view, from facts that are there.
FACTS_A_SECOND = 100_000


@dataclass(frozen=True)
class Asked:
    """A replay as somebody asks for it. Empty: the deployed code, every source, every view, all of history."""

    domain: str
    code: str = ""
    source: str = ""
    view: str = ""
    first: str = ""
    last: str = ""
    who: str = ""
    why: str = ""
    operation: str = ""


def consider(layout: Layout, home: Path, asked: Asked) -> str:
    """What this replay would take, for a person who approves. No release is begun; refuses what `begin` would."""
    name, _ = _checked(layout, home, asked)
    now = registry(layout, asked.domain)
    if not _begun(now, asked.operation):
        _must_be_alone(now)
    return (
        f"{asked.domain} by {name or 'what is deployed'} ({_anew(asked)}): {estimate(layout, asked)['text']}.\n\nIt is "
        f"made beside {now.current}, which people go on reading until somebody switches."
    )


def _anew(asked: Asked) -> str:
    if asked.view:
        return f"{asked.view} alone; facts and all other views are taken over"
    if asked.first or asked.last:
        days = f"from {asked.first or 'the first day'} to {asked.last or 'now'}"
        return f"{asked.source or 'every source'} {days}, and the rest is taken over"
    return asked.source or "every source"


def begin(layout: Layout, home: Path, asked: Asked) -> Row:
    """The release that this operation builds: a new one, or the one that it began before it was killed.

    No view may be built meanwhile, nor anything be stated, where one view is replayed: facts are taken over, and what
    was made of them.
    """
    domain, operation = asked.domain, asked.operation
    name, key = _checked(layout, home, asked)

    def decide(now: Registry) -> Iterable[Row]:
        if _begun(now, operation):
            return []
        _must_be_alone(now)
        told = Release(
            domain, now.next_name(), BUILDING, name, key,
            sources=asked.source, first=asked.first, last=asked.last, who=asked.who, why=asked.why, operation=operation,
            view=asked.view,
        )  # fmt: skip
        return [Row(**told.as_dict(), release=now.current)]

    now = commit(layout, domain, decide)
    begun = _begun(now, operation)
    assert begun is not None
    if begun.view and begun.state in UNFINISHED:
        code = load(unpacked(layout, home, domain, key), domain)
        views_anew.take_over(layout, code, now.base(begun.about), begun.about, begun.view)
    return begun


def _checked(layout: Layout, home: Path, asked: Asked) -> tuple[str, str]:
    """The code's name and the hash under which the lake keeps it, once it is known to load and to fit."""
    deployed = domains()[asked.domain]
    _must_be_a_range(deployed, asked)
    _must_have_records(layout, deployed, asked)
    _must_have_facts(layout, deployed, asked)
    name, files = files_of(asked.code, asked.domain)
    key = pin(layout, asked.domain, files)
    folder = unpacked(layout, home, asked.domain, key)
    _must_fit(deployed, load(folder, asked.domain), name)
    if asked.view:
        now = registry(layout, asked.domain)
        # Asked again after a switch, it is about the release that it began from.
        begun = _begun(now, asked.operation)
        before = now.get(now.base(begun.about) if begun else now.current)
        views_anew.must_be_all_that_changes(layout, home, before, folder, asked.view)
    return name, key


def estimate(layout: Layout, asked: Asked) -> dict[str, Any]:
    """What a replay will read, write and take, from commits alone."""
    domain, now = domains()[asked.domain], current(layout, asked.domain)
    sources, views, pace = domain.sources, domain.views, RECORDS_A_SECOND
    if asked.view:
        # One that only the code has yet is of no source that is known here; it is at most of all.
        views = tuple(views_anew.anew(domain, asked.view))
        sources, pace = tuple({source_of(view) for view in views}) or sources, FACTS_A_SECOND
    records = sum(size_of(layout.bronze(source.name))[0] for source in sources)
    space = sum(size_of(layout.gold(now, view.name))[1] for view in views)
    space += 0 if asked.view else sum(size_of(layout.silver(now, source.name))[1] for source in sources)
    seconds = round(START_SECONDS + records / pace)
    text = f"{records:,} records, about {seconds // 60} min {seconds % 60} s and {space / 2**20:,.0f} MB"
    return {"records": records, "bytes": space, "seconds": seconds, "text": text}


def ready(layout: Layout, release: Release) -> None:
    """Readers may be switched to it from now on."""
    say(layout, replace(release, state=READY))


def _begun(now: Registry, operation: str) -> Row | None:
    """What this operation builds, in its last state."""
    return next((row for row in now.releases.values() if row.operation == operation), None)


def _must_be_a_range(domain: Domain, asked: Asked) -> None:
    names = [source.name for source in domain.sources]
    if asked.view and (asked.source or asked.first or asked.last):
        raise Refused(
            f"{asked.view} is replayed from all facts that there are. Leave out source and days, or leave out the view."
        )
    if asked.source and asked.source not in names:
        raise Refused(f"{domain.name} has no source {asked.source!r}; there are: {', '.join(names)}.")
    try:
        first, last = (date.fromisoformat(day) if day else None for day in (asked.first, asked.last))
    except ValueError as error:
        raise Refused(f"A range is of days of arrival, such as 2026-11-18: {error}.") from error
    if first and last and last < first:
        raise Refused(f"{first} to {last} is no range of days: give the earlier day first.")


def _must_have_records(layout: Layout, domain: Domain, asked: Asked) -> None:
    names = [asked.source] if asked.source else [source.name for source in domain.sources]
    tables = [table for name in names if (table := open_table(layout.bronze(name)))]
    days = {
        str(day)
        for table in tables
        for day in pa.table(table.get_add_actions(flatten=True))["partition.day"].to_pylist()
    }
    if days and not any((asked.first or "0") <= day <= (asked.last or "9999") for day in days):
        raise Refused(f"No record arrived in that range: bronze has days from {min(days)} to {max(days)}.")
    if not days:
        raise Refused(
            f"No source of {domain.name} has bronze yet, so there is nothing to replay. Send events first, or wait "
            "for the archive: `penstock status`."
        )


def _must_have_facts(layout: Layout, domain: Domain, asked: Asked) -> None:
    """What is taken over is taken from facts; what is shaped anew from bronze."""
    if not any((asked.source, asked.view, asked.first, asked.last)):
        return
    release = current(layout, domain.name)
    for source in domain.sources:
        if until := kept_until(layout, release, source.name):
            raise Refused(
                f"Facts of {source.name} up to {until} have expired in {release}, and cannot be taken over from it. "
                "Bronze has their records: replay the whole domain, without source, view and days."
            )


def _must_fit(deployed: Domain, code: Domain, name: str) -> None:
    """A log is ordered by its key, and code for another key would see events of one thing out of order."""
    keys = {source.name: source.key for source in code.sources}
    for source in deployed.sources:
        if source.name not in keys:
            raise Refused(
                f"{name} has no source {source.name!r}: its records would have no disposition in this release."
            )
        if keys[source.name] != source.key:
            raise Refused(
                f"{name} keys {source.name} by {keys[source.name]!r}, and its log is kept by {source.key!r}. A new key "
                "needs a new source: its log begins anew."
            )


def _must_be_alone(now: Registry) -> None:
    other = next((row for row in now.releases.values() if row.state in UNFINISHED), None)
    if other:
        raise Refused(
            f"{now.domain} {other.about} is being replayed already ({other.operation}, by {other.who}: {other.why}). "
            f"Wait for it, or give it up: `penstock releases drop {now.domain} {other.about}`."
        )
