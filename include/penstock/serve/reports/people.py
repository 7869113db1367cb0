"""How many people: visitors, with ids that were said to be one person counted once."""

from collections.abc import Iterable

from penstock.model.page import Report
from penstock.serve.reports.asking import Asking, Found


def found(asking: Asking, report: Report) -> Found:
    sessions, answer = asking.sessions(report.view)
    said = asking.everything(report.other)
    first, second = report.by
    pairs = zip(said[first].to_pylist(), said[second].to_pylist(), strict=True) if said.num_rows else ()
    visitors = set(sessions["visitor"].to_pylist()) if sessions.num_rows else set()
    people = merged(visitors, pairs)
    return Found([{"people": people, "visitors": len(visitors), "merged": len(visitors) - people}], answer)


def merged(visitors: Iterable[str], pairs: Iterable[tuple[str, str]]) -> int:
    """Different people among these visitors. "Is the same as" is an equivalence: it holds both ways and in chains."""
    parent: dict[str, str] = {}
    for one, other in pairs:
        parent[_root(parent, one)] = _root(parent, other)
    return len({_root(parent, visitor) for visitor in visitors})


def _root(parent: dict[str, str], one: str) -> str:
    while parent.setdefault(one, one) != one:
        # Halving the way as it is walked keeps long chains short.
        parent[one] = parent[parent[one]]
        one = parent[one]
    return one
