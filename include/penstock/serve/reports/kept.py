"""Reports that were made a moment ago: a thousand consoles that ask the same share one."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import Lock
from time import monotonic
from typing import Any

from penstock.model.page import Report
from penstock.serve.certificate import certificate
from penstock.serve.reader import Reader
from penstock.serve.reports.asking import Asking, Found, Said

# As long as a console waits before it asks again; the certificate says as of when.
SECONDS = 15.0
HELD = 256
Kinds = Mapping[str, Callable[[Asking, Report], Found]]


class Reports:
    def __init__(self, reader: Reader, kinds: Kinds) -> None:
        self._reader = reader
        self._kinds = kinds
        self._made: dict[tuple[Any, ...], tuple[float, dict[str, Any]]] = {}
        self._making = [Lock() for _ in range(16)]

    def document(self, declared: Report, said: Said, streams: list[dict[str, Any]]) -> dict[str, Any]:
        """Rows and their certificate, no older than a few seconds."""
        key = declared.view, declared.name, *sorted(said)
        with self._making[hash(key) % len(self._making)]:
            at, told = self._made.get(key, (0.0, {}))
            if not told or monotonic() - at > SECONDS:
                told = self._document(declared, said, streams)
                self._hold(key, told)
        return told

    def _document(self, declared: Report, said: Said, streams: list[dict[str, Any]]) -> dict[str, Any]:
        now = datetime.now(UTC).replace(microsecond=0)
        as_of = self._reader.refreshed_at
        found = self._kinds[declared.kind](Asking(self._reader, declared.view, said, now), declared)
        told = certificate(found.answer, as_of, streams, self._reader.books)
        return {"report": declared.name, "rows": found.rows, **found.whole, "certificate": told}

    def _hold(self, key: tuple[Any, ...], told: dict[str, Any]) -> None:
        while len(self._made) >= HELD:
            self._made.pop(next(iter(self._made)), None)
        self._made[key] = monotonic(), told
