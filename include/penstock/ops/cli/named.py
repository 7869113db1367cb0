"""Names that people type. One that there is not is refused, with those that there are."""

from penstock.lake.layout import Layout
from penstock.lake.releases import registry
from penstock.model import domain
from penstock.model.domain import UnknownName, domains
from penstock.model.rule import AnyRule
from penstock.model.source import Source
from penstock.refusal import Refusal


def source(name: str) -> Source:
    try:
        return domain.source(name)
    except UnknownName as unknown:
        raise Refusal(f"{_sentence(unknown)}.") from unknown


def rule(name: str) -> AnyRule:
    try:
        return domain.rule(name)
    except UnknownName as unknown:
        raise Refusal(f"{_sentence(unknown)}.") from unknown


def release(layout: Layout, name: str) -> str:
    """A release of any domain."""
    known = {each for of in domains() for each in registry(layout, of).releases}
    if name not in known:
        raise Refusal(f"There is no release {name!r}; there are: {', '.join(sorted(known))}.")
    return name


def _sentence(unknown: UnknownName) -> str:
    said = str(unknown)
    return said[0].upper() + said[1:]
