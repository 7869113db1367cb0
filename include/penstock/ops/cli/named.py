"""Names that people type. One that there is not is refused, with those that there are."""

from collections.abc import Callable
from typing import TypeVar

from penstock.lake.layout import Layout
from penstock.lake.releases import registry
from penstock.model import domain
from penstock.model.domain import UnknownName, domains
from penstock.model.rule import AnyRule
from penstock.model.source import Source
from penstock.refusal import Refusal

Named = TypeVar("Named")


def source(name: str) -> Source:
    return _picked(domain.source, name)


def rule(name: str) -> AnyRule:
    return _picked(domain.rule, name)


def release(layout: Layout, name: str) -> str:
    """A release of any domain."""
    known = {each for of in domains() for each in registry(layout, of).releases}
    if name not in known:
        raise Refusal(f"There is no release {name!r}; there are: {', '.join(sorted(known))}.")
    return name


def _picked(pick: Callable[[str], Named], name: str) -> Named:
    try:
        return pick(name)
    except UnknownName as unknown:
        said = str(unknown)
        raise Refusal(f"{said[0].upper()}{said[1:]}.") from unknown
