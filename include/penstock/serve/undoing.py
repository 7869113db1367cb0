"""What can be undone, as the API tells it: rejected records by reason, what was said of facts, restore points."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from starlette.requests import Request

from penstock.lake.proposing import proposed
from penstock.lake.rejected import Group, groups
from penstock.lake.repairs import REPAIRS
from penstock.lake.restore_points import points
from penstock.lake.retractions import RETRACTIONS
from penstock.lake.statements import Statement
from penstock.model.domain import UnknownName, domains, source
from penstock.model.source import Source
from penstock.serve.problems import unknown
from penstock.serve.reader import Reader

# Senders leave fields out as they like: one reason has many shapes.
MOST_SHAPES = 200


class Undoing:
    """Over one lake."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def groups(self, request: Request) -> object:
        """What was rejected by reason, the most first, each with what might mend it."""
        of = source_of(request)
        release = self._reader.release(of.domain)
        found = sorted(groups(self._reader.layout, release, of.name, most=MOST_SHAPES), key=lambda group: group.reason)
        told = [_together(of, [*alike]) for _, alike in groupby(found, lambda group: group.reason)]
        told.sort(key=lambda group: -group["records"])
        return {"source": of.name, "release": release, "groups": told}

    def statements(self, request: Request) -> object:
        """What is retracted, restated and repaired of a source now, newest first; and what a condition may ask."""
        of = source_of(request)
        said: list[Statement] = [
            *RETRACTIONS.in_force(self._reader.layout, of.name),
            *REPAIRS.in_force(self._reader.layout, of.name),
        ]
        told = sorted(said, key=lambda each: each.at, reverse=True)
        return {
            "source": of.name,
            "key": of.key,
            "columns": [field.name for field in of.fields],
            "statements": [{**asdict(each), "verb": each.verb} for each in told],
        }

    def points(self, _: Request) -> object:
        """Every moment that can be gone back to, newest first; and whose tables there are."""
        return {"points": [_told(point.as_dict()) for point in points(self._reader.layout)], "domains": [*domains()]}


def source_of(request: Request) -> Source:
    """The one that an address names."""
    return named(request.path_params["source"])


def named(name: str) -> Source:
    try:
        return source(name)
    except UnknownName as error:
        known = tuple(source.name for domain in domains().values() for source in domain.sources)
        raise unknown("source", name, known) from error


def _together(of: Source, alike: Sequence[Group]) -> dict[str, Any]:
    """Of the groups of one reason, the largest first: all their records, and the first proposal that is one."""
    proposals = [proposed(of, group) for group in alike]
    mends = next((each for each in proposals if each and (each.rename or each.cast)), proposals[0])
    return {
        "reason": alike[0].reason,
        "records": sum(group.records for group in alike),
        "first": min(group.first for group in alike),
        "last": max(group.last for group in alike),
        "shapes": len(alike),
        "shape": alike[0].shape,
        "examples": alike[0].examples,
        "proposal": mends and asdict(mends),
    }


def _told(point: dict[str, Any]) -> dict[str, Any]:
    """Versions and offsets are for the engine; people are told of how many tables."""
    named = {name: point[name] for name in ("id", "at", "kind", "by", "why", "until")}
    return {**named, "tables": len(point["tables"])}
