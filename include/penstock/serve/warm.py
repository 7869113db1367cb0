"""Reads what the pages open on before anybody asks: whoever comes first after a start must not wait for all of it."""

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic

from penstock.model.page import Page
from penstock.serve import declared
from penstock.serve.assets import vega
from penstock.serve.question import ask
from penstock.serve.reader import Reader

# Nobody can ask meanwhile, so a lake of years is left to who asks for years.
SECONDS = 5.0
# The days that a page shows, the usual ones first; and all that it may know of.
RANGES, ALL = (7, 30, 90), 400

log = logging.getLogger(__name__)


def warm(reader: Reader, seconds: float = SECONDS) -> None:
    """Makes the pages and the chart library, then reads gold as the pages will, as far as the seconds go."""
    _tried(reader.refresh)
    # Two seconds of a core, most of them Altair's: without pages nobody has anything to ask.
    _tried(vega)
    _tried(declared.document)
    until = monotonic() + seconds
    for step in _steps(reader, datetime.now(UTC).replace(microsecond=0)):
        if monotonic() > until:
            return
        _tried(step)


def _tried(step: Callable[[], object]) -> None:
    """Who asks will be told what is wrong; a server must not keep from starting for it."""
    try:
        step()
    except Exception:
        log.exception("a page could not be made ready")


def _steps(reader: Reader, now: datetime) -> Iterator[Callable[[], object]]:
    for page in declared.pages().values():
        yield partial(_ask, reader, page.live, now, ALL, by=page.scope)
        yield partial(_ask, reader, page.live, now, 2 * RANGES[0], every="1 hour")
    for days in RANGES:
        for page in declared.pages().values():
            # As many days again, for the period before.
            yield from (partial(_ask, reader, view, now, 2 * days) for view in _views(page))


def _views(page: Page) -> list[str]:
    """The views that a page asks when nothing is filtered."""
    return list(dict.fromkeys([*(one.views[0] for one in page.headlines), *(one.view for one in page.lists)]))


def _ask(reader: Reader, view: str, now: datetime, days: int, **said: str) -> None:
    began = (now - timedelta(days=days)).isoformat()
    reader.answer(ask(reader.view(view), [("from", began), ("to", now.isoformat()), *said.items()], now))
