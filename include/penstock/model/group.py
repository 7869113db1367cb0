"""Which sources share a streaming driver: all of them, until a setting gives some of them a driver of their own."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.model.domain import domains
from penstock.model.source import Source

# The group of all sources that no other group has. Every other name follows it: `streams_clicks`.
REST = "streams"
# Who keeps up a release that has its own code, beside all groups.
RELEASED = "release_stream"
NAME = r"[a-z][a-z0-9_]{0,39}"


class BadGroups(ValueError):
    """The setting cannot be followed; the message says why and how it is spelled."""


@dataclass(frozen=True)
class Group:
    """Sources of one driver. `name` is that of its DAG and its pool, and what its streams say of themselves."""

    name: str
    sources: tuple[Source, ...]


def groups(text: str) -> list[Group]:
    """What a setting such as `clicks=web.events orders=orders,web.users` says; a domain stands for its sources."""
    own = {each.name: each for domain in domains().values() for each in domain.sources}
    told = [_told(word, own) for word in text.split()]
    taken = [source for group in told for source in group.sources]
    _must_be_once("group", [group.name for group in told])
    _must_be_once("source", [source.name for source in taken])
    rest = tuple(source for source in own.values() if source not in taken)
    return [*([Group(REST, rest)] if rest else []), *told]


def group(text: str, name: str) -> Group:
    known = {each.name: each for each in groups(text)}
    if name not in known:
        raise BadGroups(f"there is no stream group {name!r}; there are: {', '.join(known)}")
    return known[name]


def _told(word: str, own: Mapping[str, Source]) -> Group:
    name, _, members = word.partition("=")
    if not re.fullmatch(NAME, name) or not members:
        raise _bad(f"{word!r} is no NAME=SOURCE,SOURCE with a name of small letters, digits and _")
    found = [source for member in members.split(",") for source in _named(member, own)]
    return Group(f"{REST}_{name}", tuple(found))


def _named(member: str, own: Mapping[str, Source]) -> list[Source]:
    found = [source for source in own.values() if member in (source.name, source.domain)]
    if not found:
        raise _bad(f"there is no source or domain {member!r}; there are: {', '.join(own)}")
    return found


def _must_be_once(what: str, names: Iterable[str]) -> None:
    seen = list(names)
    if twice := sorted({name for name in seen if seen.count(name) > 1}):
        raise _bad(f"{what} {', '.join(twice)} is named twice")


def _bad(why: str) -> BadGroups:
    return BadGroups(f"PENSTOCK_STREAM_GROUPS: {why}. Example: clicks=web.events orders=orders")
