"""Finds the domains: every package under `domains` that has a `model` is one. Nothing is registered by hand."""

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from penstock.model.source import Source
from penstock.model.view import View

T = TypeVar("T")


class UnknownName(LookupError):
    """No domain, source or view has this name; the message lists the ones that there are."""


@dataclass(frozen=True)
class Domain:
    name: str
    sources: tuple[Source, ...]
    views: tuple[View, ...]


@cache
def domains() -> dict[str, Domain]:
    """All domains by name. `domains` is a namespace package, so a folder anywhere on the path can add to it."""
    import domains as folder

    return {name: _load(name) for name in sorted(module.name for module in pkgutil.iter_modules(folder.__path__))}


def _load(name: str) -> Domain:
    model = importlib.import_module(f"domains.{name}.model")
    views = importlib.import_module(f"domains.{name}.views")
    return Domain(name, tuple(model.SOURCES), tuple(views.VIEWS))


def source(name: str) -> Source:
    return _pick({source.name: source for domain in domains().values() for source in domain.sources}, name, "source")


def view(name: str) -> View:
    return _pick({view.name: view for domain in domains().values() for view in domain.views}, name, "view")


def _pick(known: dict[str, T], name: str, what: str) -> T:
    if name not in known:
        raise UnknownName(f"there is no {what} {name!r}; there are: {', '.join(sorted(known)) or 'none'}")
    return known[name]
