"""Switches a domain to a release that has caught up, and says so in the audit."""

import duckdb

from penstock.lake import audit
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import PREVIOUS, Refused, registry, switch
from penstock.model.domain import domains

# A stream at work is a few seconds behind another one; so many records say that it does not keep up.
MOST_BEHIND = 10_000
ENDS = 'select partition, max("offset") + 1 from silver group by partition'


def switched(layout: Layout, domain: str, to: str, who: str, why: str, approved_by: str, operation: str) -> str:
    """One commit moves the pointer. Repeated by the same operation, it changes nothing and completes the audit."""
    now = registry(layout, domain)
    name = now.previous if to == PREVIOUS else to
    if name and name in now.kept:
        _must_have_caught_up(layout, domain, now.current, name)
    left, taken = switch(layout, domain, to, who, why, operation)
    if left == taken:
        return f"{domain} is at {taken} already: nothing was switched"
    before, after = {"current": left}, {"current": taken}
    audit.record(layout, audit.Entry(operation, "switch", domain, who, why, approved_by, before, after))
    return f"{domain} was switched from {left} to {taken}; back: `penstock revert {domain}`"


def behind(layout: Layout, domain: str, current: str, other: str) -> int:
    """How many records the current release has shaped and the other has not yet."""
    lacking = 0
    for source in domains()[domain].sources:
        theirs = _ends(layout.silver(other, source.name))
        ours = _ends(layout.silver(current, source.name))
        lacking += sum(max(0, end - theirs.get(part, 0)) for part, end in ours.items())
    return lacking


def _must_have_caught_up(layout: Layout, domain: str, current: str, to: str) -> None:
    lacking = behind(layout, domain, current, to)
    if lacking > MOST_BEHIND:
        raise Refused(
            f"{domain} {to} lacks {lacking:,} records that {current} has. Wait until its stream has caught up; if it "
            "has none, trigger `release_stream` for it. Nothing was switched."
        )


def _ends(silver: str) -> dict[int, int]:
    table = open_table(silver)
    if table is None:
        return {}
    with duckdb.connect() as memory:
        memory.register("silver", table.to_pyarrow_dataset())
        return dict(memory.execute(ENDS).fetchall())
