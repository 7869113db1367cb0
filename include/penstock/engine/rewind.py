"""Brings a domain's tables back to a restore point, each in one commit on top of what there is; nothing is erased.

Bronze and the ledger stay: the one is the past itself, the other says what happened. A silver table that went back
names a new query with an epoch that was never used, so that its stream finds its checkpoint foreign, rebuilds it from
the table and shapes the log's newer records again. Killed at any step, the same call goes on where it was.
"""

import uuid
from dataclasses import replace
from typing import Any

from deltalake import CommitProperties, DeltaTable, Transaction

from penstock.engine.history import committed_facts
from penstock.engine.pinning import named, note, take
from penstock.engine.posting import post
from penstock.engine.speed import append
from penstock.engine.ways import Way, ways
from penstock.lake import rewinds
from penstock.lake.erasures import since
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.publication import Publication, last_epoch, open_table, publications
from penstock.lake.releases import switch
from penstock.lake.restore_points import RestorePoint, Stand
from penstock.lake.rewinds import Rewind
from penstock.model.domain import domains, views_of
from penstock.model.source import Source
from penstock.model.view import View


def rewind(layout: Layout, point: RestorePoint, domain: str, by: str, why: str, operation: str = "") -> Rewind:
    """Goes back, or ends what was begun. The caller holds the leases of the domain's shapes.

    What an operation has ended it does not do again: streams may have shaped newer records since.
    """
    name = rewinds.named(operation, domain)
    begun = rewinds.unfinished(layout, domain) or rewinds.ended(layout, name)
    begun = begun or _begin(layout, point, domain, by, why, name)
    if begun.done:
        return begun
    if begun.point != point.id:
        rewinds.refuse_unfinished(layout, domain)
    found = ways(layout, point, domain)
    for way in found:
        go(layout, begun, way)
    for source in domains()[domain].sources:
        for release in sorted({way.release for way in found if way.source == source.name}):
            if not since(layout, domain, point.at):
                complete(layout, point, begun, source, release)
            post(layout, (source,), release)
    switch(layout, domain, point.releases.get(domain, FIRST_RELEASE), by, why, f"rewind/{begun.id}")
    done = replace(begun, done=True)
    rewinds.note(layout, done)
    return done


def _begin(layout: Layout, point: RestorePoint, domain: str, by: str, why: str, name: str) -> Rewind:
    """Saves the present and fixes the epochs, before anything moves."""
    found = ways(layout, point, domain)
    epochs = {way.path: _fresh(way.path) for way in found if way.kind == "silver" and way.now}
    saved = take(layout, "hand", by, f"before the rewind of {domain} to {point.id}: {why}")
    begun = Rewind(name, domain, point.id, saved.id, by, why, epochs, point_at=point.at)
    rewinds.note(layout, begun)
    return begun


def _fresh(silver: str) -> int:
    """An epoch that no query of this table has used."""
    said = note(DeltaTable(silver))
    return said[1] + 1 if said else 0


def go(layout: Layout, begun: Rewind, way: Way) -> None:
    """One table, in one commit that is made once."""
    once = f"rewind/{begun.id}"
    moved = way.now is not None and way.now != way.then
    if not moved or last_epoch(open_table(way.path), once) >= 0:
        return
    said: dict[str, Any] = {}
    transactions = [Transaction(once, 0)]
    if way.kind == "silver":
        query, epoch = resumed(begun, way.path), begun.epochs[way.path]
        # Written as a batch: no epoch of the log has this number, so none is run again.
        said["penstock"] = {"query": query, "epoch": epoch, "archived": -1}
        transactions.append(Transaction(query, epoch))
    if way.kind == "gold":
        said["userMetadata"] = _published(way).to_metadata()
    properties = CommitProperties(custom_metadata=said, app_transactions=transactions)
    if way.then is None:
        DeltaTable(way.path).delete(commit_properties=properties)
    else:
        DeltaTable(way.path).restore(way.then.version, commit_properties=properties)


def resumed(begun: Rewind, silver: str) -> str:
    """The query that shapes on after a rewind: with the old one's id Delta would skip what it has seen of it."""
    return str(uuid.uuid5(uuid.UUID(begun.id), silver))


def complete(layout: Layout, point: RestorePoint, begun: Rewind, source: Source, release: str) -> None:
    """Gives the speed tables the partials of silver's last epoch that they lacked when the point was taken."""
    silver = layout.silver(release, source.name)
    stand = point.streams.get(named(layout, silver))
    lacking = [view for view in views_of(source) if stand and _lacks(layout, point, stand, release, view)]
    if stand and lacking:
        facts = committed_facts(silver, stand.epoch)
        append(None, layout, release, lacking, facts, stand.epoch, resumed(begun, silver))


def _lacks(layout: Layout, point: RestorePoint, stand: Stand, release: str, view: View) -> bool:
    path = layout.speed(release, view.name)
    pinned = point.tables.get(named(layout, path))
    return pinned is None or last_epoch(open_table(path, pinned.version), stand.query) < stand.epoch


def _published(way: Way) -> Publication:
    """What the version says it is of; readers and builds look for it in the newest commit that says any."""
    then = publications(DeltaTable(way.path, version=way.then.version)) if way.then else iter(())
    return next(then, Publication({}, way.release))
