"""What the API says of releases: which there are, what was done to them, and two of them compared."""

from pathlib import Path
from typing import Any

from starlette.requests import Request

from penstock.lake.audit import entries
from penstock.lake.following import Followed
from penstock.lake.layout import Layout
from penstock.lake.publication import newest, open_table
from penstock.lake.releases import UNFINISHED, Refused, Row, registry
from penstock.lake.replaying import said
from penstock.model.domain import domains
from penstock.serve.compare.comparison import Comparison, compare
from penstock.serve.live import AUDIT
from penstock.serve.problems import bad, unknown
from penstock.serve.reader import Reader
from penstock.settings import Settings

MOST_ENTRIES = 100
# Comparisons that are kept while nothing changed: one takes seconds, and a page is opened again.
HELD = 8


class Told:
    """Over one lake and one home."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self._settings, self._reader, self._layout = settings, reader, reader.layout
        self._held: dict[tuple[Any, ...], Comparison] = {}
        self._audit, self._heard = Followed(self._layout.control("audit")), -1

    def refresh(self) -> set[str]:
        """The audit, if something was done since the last look."""
        version = self._audit.look()
        heard, self._heard = self._heard, version
        return {AUDIT} if version != heard else set()

    def releases(self, _: Request) -> object:
        return {"releases": [self._release(name) for name in domains()]}

    def audit(self, _: Request) -> object:
        return self.done()

    def done(self) -> dict[str, Any]:
        return {"entries": [entry.as_dict() for entry in entries(self._layout, limit=MOST_ENTRIES)]}

    def compared(self, request: Request) -> object:
        domain = request.path_params["domain"]
        if domain not in domains():
            raise unknown("domain", domain, tuple(domains()))
        now = registry(self._layout, domain)
        asked = [request.query_params.get(name, "") for name in ("before", "after")]
        try:
            before, after = (now.get(name or now.current).about for name in asked)
        except Refused as refused:
            raise bad(str(refused), *now.releases) from refused
        key = domain, before, after, *versions(self._layout, domain, (before, after))
        while len(self._held) >= HELD:
            self._held.pop(next(iter(self._held)), None)
        if key not in self._held:
            self._held[key] = compare(self._layout, Path(self._settings.home), domain, before, after)
        return self._held[key].as_dict()

    def _release(self, domain: str) -> dict[str, Any]:
        """The current release of a domain with its publications, and every one that there is."""
        current = self._reader.release(domain)
        views = [view.name for view in self._reader.views().values() if view.name.startswith(f"{domain}.")]
        tables = {view: open_table(self._layout.gold(current, view)) for view in views}
        told = registry(self._layout, domain)
        # A row's own `release` is the pointer: which one was current when it was written.
        days = self._settings.revert_days
        listed = [
            {**row.as_dict(), "release": name, "until": told.until(name, days), **self._progress(row)}
            for name, row in told.releases.items()
        ]
        published = {name: newest(table) for name, table in tables.items()}
        return {"domain": domain, "release": current, "published": published, "all": listed}

    def _progress(self, row: Row) -> dict[str, Any]:
        """Of a release that is being built: the share of records that is done (of views nobody knows), in words too."""
        told = said(Path(self._settings.home), row.domain, row.about) if row.state in UNFINISHED else None
        return {"progress": {"share": told.share, "text": told.text} if told else None}


def versions(layout: Layout, domain: str, releases: tuple[str, str]) -> list[int]:
    """Which state of silver was compared."""
    paths = [layout.silver(release, source.name) for release in releases for source in domains()[domain].sources]
    return [table.version() if (table := open_table(path)) else -1 for path in paths]
