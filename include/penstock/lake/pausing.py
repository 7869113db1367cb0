"""Lets the replay of a domain wait, and go on. It waits between two epochs, killed or not, until somebody says so."""

from collections.abc import Iterable
from dataclasses import replace

from penstock.lake import audit
from penstock.lake.layout import Layout
from penstock.lake.releases import BUILDING, PAUSED, UNFINISHED, Refused, Registry, Row, commit

VERBS = {PAUSED: "pause", BUILDING: "resume"}


def pause(layout: Layout, domain: str, who: str, why: str) -> str:
    """Its process takes no more of the machine's time; what is written stays."""
    name = _said(layout, domain, PAUSED, who, why)
    return f"{domain} {name} waits after its epoch. Let it go on: `penstock replay --domain {domain} --resume --why …`"


def resume(layout: Layout, domain: str, who: str, why: str) -> str:
    name = _said(layout, domain, BUILDING, who, why)
    return f"{domain} {name} goes on where it was. If its run has ended meanwhile, clear the task `replay` of that run."


def _said(layout: Layout, domain: str, state: str, who: str, why: str) -> str:
    """Says it of the one release of a domain that is being built. Said again, it completes the audit."""

    def decide(now: Registry) -> Iterable[Row]:
        row = _built(now, state)
        return [replace(row, state=state, release=now.current)] if row.state != state else []

    row = _built(commit(layout, domain, decide), state)
    after = {"release": row.about, "state": state}
    # The row's number names what was said: each pause is told once.
    operation = f"{VERBS[state]}/{domain}/{row.number}"
    audit.record(layout, audit.Entry(operation, VERBS[state], domain, who, why, after=after))
    return row.about


def _built(now: Registry, state: str) -> Row:
    row = next((each for each in now.releases.values() if each.state in UNFINISHED), None)
    if row is None:
        raise Refused(f"No release of {now.domain} is being built, so there is nothing to {VERBS[state]}.")
    if state == BUILDING and not any(each.state == PAUSED for each in now.rows if each.about == row.about):
        raise Refused(f"{now.domain} {row.about} was never paused: it is being built.")
    return row
