"""Finds the domains: every package under `domains` that has a `model` is one. Nothing is registered by hand."""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import TypeVar

from penstock.model.rule import AnyRule
from penstock.model.source import Source
from penstock.model.view import View, enrichment, source_of

T = TypeVar("T")


class UnknownName(LookupError):
    """No domain, source or view has this name; the message lists the ones that there are."""


class CodeRefused(ImportError):
    """A release's code cannot be loaded; the message says what is wrong with it."""


@dataclass(frozen=True)
class Domain:
    name: str
    sources: tuple[Source, ...]
    views: tuple[View, ...]
    rules: tuple[AnyRule, ...] = ()


# Modules by one name from two folders: only one thread at a time may look them up.
_importing = RLock()
# Once they were found.
_found: list[dict[str, Domain]] = []


def domains() -> dict[str, Domain]:
    """All domains by name. `domains` is a namespace package, so a folder anywhere on the path can add to it."""
    return _known() or _looked_for()


def _known() -> dict[str, Domain]:
    return next(iter(_found), {})


def _looked_for() -> dict[str, Domain]:
    import domains as folder

    # Of threads that ask at once one looks, and all get the same.
    with _importing:
        if known := _known():
            return known
        names = sorted(module.name for module in pkgutil.iter_modules(folder.__path__))
        found = {name: _load(name) for name in names}
        _found.append(found)
        return found


def forget() -> None:
    """The path, or what is on it, is another: domains are looked for again."""
    # Who is looking by the old path has found by then, and is forgotten too.
    with _importing:
        _found.clear()


def _load(name: str) -> Domain:
    model = importlib.import_module(f"domains.{name}.model")
    views = importlib.import_module(f"domains.{name}.views")
    return Domain(name, tuple(model.SOURCES), tuple(views.VIEWS), _rules(name))


def _rules(name: str) -> tuple[AnyRule, ...]:
    """A domain need not have any."""
    if importlib.util.find_spec(f"domains.{name}.rules") is None:
        return ()
    return tuple(importlib.import_module(f"domains.{name}.rules").RULES)


def source(name: str) -> Source:
    return _pick({source.name: source for domain in domains().values() for source in domain.sources}, name, "source")


def views_of(source: Source) -> list[View]:
    """Every view that is made of a source's facts, directly or by way of sessions."""
    return [view for view in domains()[source.domain].views if source_of(view).name == source.name]


def enriched_by(source: Source) -> list[View]:
    """Every view that counts other sources' facts by what this source says of their keys."""
    return [view for view in domains()[source.domain].views if (of := enrichment(view)) and of.said.source == source]


def known_to(source: Source) -> list[Source]:
    """The sources by which a view enriches this one's facts."""
    found = [of.said.source for view in views_of(source) if (of := enrichment(view))]
    return sorted(set(found), key=lambda one: one.name)


def view(name: str) -> View:
    return _pick({view.name: view for domain in domains().values() for view in domain.views}, name, "view")


def rule(name: str) -> AnyRule:
    return _pick({rule.name: rule for domain in domains().values() for rule in domain.rules}, name, "rule")


def _pick(known: dict[str, T], name: str, what: str) -> T:
    if name not in known:
        raise UnknownName(f"there is no {what} {name!r}; there are: {', '.join(sorted(known)) or 'none'}")
    return known[name]


@contextmanager
def code(folder: Path | None) -> Iterator[None]:
    """Domains are those of this folder first, while inside: a release's own code. None: what is deployed."""
    if folder is None:
        yield
        return
    with _modules_of(folder):
        forget()
        try:
            yield
        finally:
            forget()


def use(folder: Path | None) -> None:
    """Domains are those of this folder first, for the rest of this process. Called once, in a main, before Spark is."""
    if folder is not None:
        sys.path.insert(0, str(folder))
        for name in _loaded():
            del sys.modules[name]
        forget()


def load(folder: Path, name: str) -> Domain:
    """One domain as a release's code has it, beside the one that is deployed."""
    with _modules_of(folder):
        try:
            loaded = _load(name)
        except Exception as error:
            raise CodeRefused(f"the code of {name} does not load: {type(error).__name__}: {error}") from error
        if not Path(sys.modules[f"domains.{name}.model"].__file__ or "").is_relative_to(folder):
            raise CodeRefused(f"{folder} has no domain {name!r}")
        return loaded


@contextmanager
def _modules_of(folder: Path) -> Iterator[None]:
    """Modules of domains are looked for in this folder first; those that were loaded are put back afterwards."""
    with _importing:
        before = {name: sys.modules.pop(name) for name in _loaded()}
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path.remove(str(folder))
            for name in _loaded():
                del sys.modules[name]
            sys.modules.update(before)


def _loaded() -> list[str]:
    # A list first: another thread may import meanwhile.
    return [name for name in list(sys.modules) if name.partition(".")[0] in ("domains", "expectations")]
