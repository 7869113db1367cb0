"""Drops a release: its tables and checkpoints go, its code and its story stay. The current release is never dropped."""

import time
from dataclasses import replace
from pathlib import Path

from penstock.engine.lease import holder, leases_in, of_driver
from penstock.lake import audit
from penstock.lake.files import size_of
from penstock.lake.layout import Layout
from penstock.lake.place import place
from penstock.lake.releases import DROPPED, Refused, Registry, Row, commit, registry
from penstock.model.domain import domains

# The driver of a release looks every ten seconds whether anybody keeps it, and then ends its epoch.
PATIENCE = 60.0


def plan(layout: Layout, domain: str, release: str) -> str:
    """What would go, and what readers could then no longer go back to."""
    row = _droppable(registry(layout, domain), release)
    sizes = [size_of(path) for path in _tables(layout, domain, release)]
    rows, space = sum(each[0] for each in sizes), sum(each[1] for each in sizes)
    return (
        f"{domain} {release} ({row.state}; code: {row.code or 'what is deployed'}) has {rows:,} rows in "
        f"{space / 2**20:,.0f} MB. They are deleted for good: nobody can switch back to {release}. Bronze, from which "
        "it can be replayed, stays."
    )


def drop(layout: Layout, home: Path, entry: audit.Entry, release: str) -> str:
    """Marks it dropped, which ends its stream; then deletes. Repeated, it deletes what is left."""
    domain = entry.about

    def decide(now: Registry) -> list[Row]:
        row = _droppable(now, release)
        if row.state == DROPPED:
            return []
        return [replace(row, state=DROPPED, who=entry.who, why=entry.why, release=now.current)]

    commit(layout, domain, decide)
    _wait_for_its_drivers(home, domain, release)
    for path in [*_tables(layout, domain, release), *_checkpoints(layout, domain, release)]:
        place(path).remove()
    audit.record(layout, entry)
    return f"{domain} {release} was dropped"


def _droppable(now: Registry, release: str) -> Row:
    if release == now.current:
        raise Refused(f"{now.domain} {release} is what people read. Switch to another release first.")
    return now.get(release)


def _tables(layout: Layout, domain: str, release: str) -> list[str]:
    """Of the views that the deployed code knows and of those that only the release had."""
    silver = [layout.silver(release, source.name) for source in domains()[domain].sources]
    kinds = [f"{layout.root}/{kind}/{release}" for kind in ("gold", "speed", "candidate")]
    gold = [f"{kind}/{name}" for kind in kinds for name in place(kind).names() if name.startswith(f"{domain}.")]
    return [*silver, *gold]


def _checkpoints(layout: Layout, domain: str, release: str) -> list[str]:
    return [layout.checkpoint(f"shape/{source.name}", release) for source in domains()[domain].sources]


def _wait_for_its_drivers(home: Path, domain: str, release: str) -> None:
    """A driver that lives would make its tables again."""
    names = of_driver(domains()[domain].sources, release)
    limit = time.monotonic() + PATIENCE
    for name in [f"replay-{domain}-{release}", *names]:
        while taken := holder(leases_in(home), name):
            if time.monotonic() > limit:
                raise Refused(f"{taken} It was told that {release} is dropped; drop it again when it has ended.")
            time.sleep(0.5)
