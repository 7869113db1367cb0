"""Operations on releases as tasks: nothing heavy until they run. Each returns what the next task or a person needs."""

from collections.abc import Callable
from typing import Any

from penstock.ops.airflow.errors import RequestRefused
from penstock.settings import Settings


def plan_replay(form: dict[str, str]) -> str:
    """Refuses what cannot be replayed; else says how long it will take and how much room. Nothing is begun."""
    from penstock.lake.replays import consider

    return str(_asked(consider, form))


def begin_replay(form: dict[str, str]) -> str:
    """The release that is built from here on: the same, however often this operation asks."""
    from penstock.lake.replays import begin

    return str(_asked(begin, form).about)


def _asked(step: Callable[..., Any], form: dict[str, str]) -> Any:
    from penstock.lake.layout import Layout
    from penstock.lake.releases import Refused
    from penstock.lake.replays import Asked
    from penstock.model.domain import CodeRefused

    settings = Settings.from_env()
    try:
        return step(Layout(settings.lake), settings.home, Asked(**form))
    except (Refused, CodeRefused) as refused:
        raise RequestRefused(str(refused)) from refused


def still_kept(domain: str, release: str) -> bool:
    from penstock.lake.layout import Layout
    from penstock.lake.releases import kept

    return release in kept(Layout(Settings.from_env().lake), domain)


def plan_switch(domain: str, to: str, limit: float | None) -> dict[str, Any]:
    """What readers would see change. `inside`: nobody need approve, for it is a revert or within the limit."""
    from penstock.lake.layout import Layout
    from penstock.lake.releases import PREVIOUS, Refused, registry
    from penstock.serve.compare.comparison import compare
    from penstock.serve.compare.markdown import markdown

    settings = Settings.from_env()
    layout = Layout(settings.lake)
    now = registry(layout, domain)
    name = now.previous if to == PREVIOUS else to
    try:
        if name is None:
            raise Refused(f"{domain} was never switched, so there is nothing to revert.")
        now.must_be_ready(name)
    except Refused as refused:
        raise RequestRefused(str(refused)) from refused
    if to == PREVIOUS:
        return {"to": name, "inside": True, "text": f"{domain}: back from {now.current} to {name}, which kept up."}
    told = compare(layout, settings.home, domain, now.current, name)
    inside = limit is not None and told.within(limit)
    return {"to": name, "inside": inside, "text": markdown(told)}


def switch(domain: str, to: str, who: str, why: str, approved_by: str, operation: str) -> str:
    from penstock.lake.layout import Layout
    from penstock.lake.releases import Refused
    from penstock.lake.switching import switched

    try:
        return switched(Layout(Settings.from_env().lake), domain, to, who, why, approved_by, operation)
    except Refused as refused:
        raise RequestRefused(str(refused)) from refused


def plan_drop(domain: str, release: str) -> str:
    from penstock.engine.dropping import plan
    from penstock.lake.layout import Layout
    from penstock.lake.releases import Refused

    try:
        return plan(Layout(Settings.from_env().lake), domain, release)
    except Refused as refused:
        raise RequestRefused(str(refused)) from refused


def drop(domain: str, release: str, who: str, why: str, approved_by: str, operation: str) -> str:
    from penstock.engine.dropping import drop as dropped
    from penstock.lake.audit import Entry
    from penstock.lake.layout import Layout
    from penstock.lake.releases import Refused

    settings = Settings.from_env()
    entry = Entry(operation, "drop", domain, who, why, approved_by, {"release": release}, {})
    try:
        return dropped(Layout(settings.lake), settings.home, entry, release)
    except Refused as refused:
        raise RequestRefused(str(refused)) from refused
