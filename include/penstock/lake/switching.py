"""Switches a domain to a release, and says so in the audit."""

from penstock.lake import audit
from penstock.lake.layout import Layout
from penstock.lake.releases import switch


def switched(layout: Layout, domain: str, to: str, who: str, why: str, approved_by: str, operation: str) -> str:
    """One commit moves the pointer. Repeated by the same operation, it changes nothing and completes the audit."""
    left, taken = switch(layout, domain, to, who, why, operation)
    if left == taken:
        return f"{domain} is at {taken} already: nothing was switched"
    before, after = {"current": left}, {"current": taken}
    audit.record(layout, audit.Entry(operation, "switch", domain, who, why, approved_by, before, after))
    return f"{domain} was switched from {left} to {taken}; back: `penstock revert {domain}`"
