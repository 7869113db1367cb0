"""Whether a day that somebody asked to have built was built since: read from what was published, without a JVM."""

from collections.abc import Collection
from datetime import date, datetime

from penstock.lake.files import size_of
from penstock.lake.layout import Layout
from penstock.lake.publication import Publication, open_table, publications
from penstock.lake.releases import registry
from penstock.model.domain import domains
from penstock.model.view import View, source_of


def built(layout: Layout, names: list[str], day: date, asked: datetime) -> bool:
    """Whether every view of these domains has been published with that day by builds that began later than `asked`."""
    return all(_domain(layout, name, day, asked) for name in names)


def _domain(layout: Layout, name: str, day: date, asked: datetime) -> bool:
    known = registry(layout, name)
    # A release with code of its own may have views that nobody here knows.
    return not any(known.get(release).hash for release in known.kept) and all(
        _release(layout, release, domains()[name].views, day, asked) for release in known.kept
    )


def _release(layout: Layout, release: str, views: Collection[View], day: date, asked: datetime) -> bool:
    # A source that rests has a table, and no view. It is asked once for all views: to open it takes as long as they do.
    sources = {source_of(view).name for view in views}
    at_work = {source for source in sources if size_of(layout.silver(release, source))[0]}
    return all(_view(layout, release, view, day, asked) for view in views if source_of(view).name in at_work)


def _view(layout: Layout, release: str, view: View, day: date, asked: datetime) -> bool:
    gold = open_table(layout.gold(release, view.name))
    return gold is not None and any(_holds(said, day, asked) for said in publications(gold))


def _holds(said: Publication, day: date, asked: datetime) -> bool:
    """A build that does not say when it began may have begun with other code, or other facts."""
    began = bool(said.begun_at) and datetime.fromisoformat(said.begun_at) > asked
    return began and (said.days is None or str(day) in said.days)
