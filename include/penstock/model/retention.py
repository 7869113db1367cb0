"""How long the facts of a source are kept: for ever, unless a setting says for how many days; and which must stay."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil

from penstock.model.bucket import DAY, Bucket
from penstock.model.domain import domains, enriched_by, views_of
from penstock.model.measure import Measure
from penstock.model.source import Source
from penstock.model.view import Latest, PerKey, Sessions, View, enrichment, keys

TIER = "silver"
# Facts may come a month late, and restore points live as long.
LEAST_DAYS = 31
# Of what a measure keeps, what names nobody: numbers, and hashes in sketches.
NAMELESS = {"count", "total", "mean", "ratio", "distinct", "theta", "members", "quantile", "histogram"}


class BadRetention(ValueError):
    """The setting cannot be followed; the message says why and how it is spelled."""


@dataclass(frozen=True)
class Retention:
    """A source's facts are kept for so many days after the one on which they happened, rollups for ever."""

    source: Source
    days: int


def retentions(text: str) -> list[Retention]:
    """What a setting such as `silver/web.events=400` says; a domain stands for its sources."""
    told = [one for word in text.split() for one in _told(word)]
    names = [one.source.name for one in told]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise _bad(f"{', '.join(twice)} is named twice")
    return told


def _told(word: str) -> Iterator[Retention]:
    match = re.fullmatch(rf"{TIER}/([^=]+)=(\d{{1,5}})", word)
    if not match:
        raise _bad(f"{word!r} is no {TIER}/SOURCE=DAYS")
    if (days := int(match[2])) < LEAST_DAYS:
        raise _bad(f"{word!r} keeps {days} days. Facts may come a month late: keep {LEAST_DAYS} or more")
    every = [source for domain in domains().values() for source in domain.sources]
    found = [source for source in every if match[1] in (source.name, source.domain)]
    if not found:
        raise _bad(f"there is no source or domain {match[1]!r}; there are: {', '.join(one.name for one in every)}")
    for source in found:
        if why := hindrance(source):
            raise _bad(f"facts of {source.name} must stay: {why}")
        yield Retention(source, days)


def hindrance(source: Source) -> str:
    """Why facts of a source must stay, whatever is asked; empty where they may go."""
    if joined := enriched_by(source):
        return f"{joined[0].name} asks for all that was ever said in them"
    return next((why for view in views_of(source) if (why := _hindrance(view, source))), "")


def _hindrance(view: View, source: Source) -> str:
    if isinstance(view, Latest):
        return f"{view.name} has the last of all of them for each key"
    if not isinstance(view.of, Sessions) and view.at != "happened_at":
        return f"{view.name} is by the day of {view.at}, and they go by the day on which they happened"
    if named := _people(view, source):
        return f"{view.name} keeps {', '.join(named)}, and of rollups that cannot be made again nobody can be erased"
    return ""


def _people(view: View, source: Source) -> list[str]:
    """The personal fields that stand in a view's rows as they were said, and by which nobody would find the rows."""
    said = " ".join(_shown(view))
    personal = {field.name for field in source.fields if field.personal}
    if of := enrichment(view):
        theirs = {field.name for field in of.said.source.fields if field.personal}
        personal |= {name for name, field in of.columns.items() if field in theirs}
    personal -= {*named_by(view, source)}
    return sorted(name for name in personal if re.search(rf"\b{re.escape(name)}\b", said))


def named_by(view: View, source: Source) -> list[str]:
    """The keys of a view's rows that name somebody who can be erased."""
    return [key for key in keys(view) if key in source.subjects]


def _shown(view: View) -> list[str]:
    """The expressions whose values a view's rows have."""
    return [*keys(view), *(view.columns if isinstance(view, PerKey | Latest) else _kept(view.measures))]


def _kept(measures: Mapping[str, Measure]) -> Iterator[str]:
    for measure in measures.values():
        if measure.kind not in NAMELESS:
            yield from (part.partial for part in measure.parts)


def reach(source: Source) -> int:
    """Days before one whose facts its rows are made of: a session of the night before, the horizon of a view by key."""
    return max((_reach(view) for view in views_of(source)), default=0)


def _reach(view: View) -> int:
    match view:
        case Sessions():
            return ceil(Bucket.of(view.gap).seconds / DAY)
        case PerKey():
            return view.horizon
    return 0


def _bad(why: str) -> BadRetention:
    return BadRetention(f"PENSTOCK_RETENTION: {why}. Example: {TIER}/web.events=400")
