"""Counts between fixed edges: exact, mergeable by addition, ready for a chart."""

from collections.abc import Sequence
from itertools import pairwise

from penstock.model.measure import Measure, Part


def histogram(field: str, edges: Sequence[float]) -> Measure:
    """How many values lie below the first edge, between each two (lower edge included), and at or above the last."""
    edges = sorted(edges)
    if not edges:
        raise ValueError(f"histogram({field!r}) needs at least one edge")
    between = [f"{field} >= {low} and {field} < {high}" for low, high in pairwise(edges)]
    conditions = [f"{field} < {edges[0]}", *between, f"{field} >= {edges[-1]}"]
    parts = tuple(
        Part(f"b{index}", f"cast(count_if({condition}) as bigint)", "cast(sum({it}) as bigint)")
        for index, condition in enumerate(conditions)
    )
    show = "[" + ", ".join("{" + part.suffix + "}" for part in parts) + "]"
    return Measure("histogram", parts, show, f"{field} at {', '.join(map(str, edges))}")
