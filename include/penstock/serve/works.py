"""What works behind the numbers: the gates' last words, Airflow's runs, and what each table takes. Made for all who ask
within some seconds, as it opens every table.
"""

import logging
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from threading import Lock
from time import monotonic
from typing import Any

import httpx
from deltalake.exceptions import DeltaError
from starlette.requests import Request

from penstock.cockpit import Cockpit
from penstock.lake.files import size_of
from penstock.lake.gates import checks
from penstock.lake.layout import Layout
from penstock.model.domain import domains
from penstock.refusal import Refusal
from penstock.serve.access.who import READER
from penstock.serve.reader import Reader
from penstock.settings import Settings

SECONDS = 15.0
# A gate that has not looked for longer has nothing to say of today.
GATES = timedelta(days=30)
PATIENCE = 3.0
log = logging.getLogger(__name__)


class Works:
    """Over one lake and the Airflow of one home."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self._settings, self._reader = settings, reader
        self._lock = Lock()
        self._told: dict[str, Any] = {}
        self._until = 0.0

    def told(self, _: Request) -> object:
        # Who asks while it is made gets what was told last: the threads that would wait here are missed elsewhere.
        if monotonic() > self._until and self._lock.acquire(blocking=not self._told):
            try:
                if monotonic() > self._until:
                    self._told = self._made()
                    self._until = monotonic() + SECONDS
            finally:
                self._lock.release()
        return self._told

    def _made(self) -> dict[str, Any]:
        return {
            "gates": gates(self._settings.lake),
            "tables": list(tables(self._reader)),
            "airflow": f"http://127.0.0.1:{self._settings.airflow_port}",
            "runs": runs(self._settings),
        }


def gates(lake: str) -> list[dict[str, Any]]:
    """What each gate said last, newest first."""
    last: dict[tuple[str, str], dict[str, Any]] = {}
    for one in checks(lake, datetime.now(UTC) - GATES):
        shown = {"table": one.table, "release": one.release, "at": one.at, "passed": one.passed, "reason": one.reason}
        last.setdefault((one.table, one.release), {**shown, "severity": one.severity, "seconds": one.seconds})
    return list(last.values())


def tables(reader: Reader) -> Iterator[dict[str, Any]]:
    """Rows and bytes of every table of the current releases, as their logs count them."""
    for tier, name, path in _places(reader.layout, reader):
        try:
            rows, size = size_of(path)
        except (OSError, DeltaError) as damaged:
            # One that cannot be read must not hide the others; `penstock doctor --deep` says what to do.
            log.warning("%s cannot be read: %s", path, damaged)
            continue
        if size:
            yield {"tier": tier, "table": name, "rows": rows, "bytes": size}


def _places(layout: Layout, reader: Reader) -> Iterator[tuple[str, str, str]]:
    for domain in domains().values():
        release = reader.release(domain.name)
        for source in domain.sources:
            yield "bronze", source.name, layout.bronze(source.name)
            yield "silver", source.name, layout.silver(release, source.name)
    for name in reader.views():
        release = reader.release(name.partition(".")[0])
        yield "gold", name, layout.gold(release, name)
        yield "speed", name, layout.speed(release, name)


def runs(settings: Settings) -> list[dict[str, Any]] | None:
    """DAGs that are under way, newest first; None where no Airflow of this home answers."""
    try:
        with closing(Cockpit(settings, READER, PATIENCE)) as airflow:
            found = airflow.under_way()
        return [
            {"dag": one["dag_id"], "run": one["dag_run_id"], "state": one["state"], "began": one["start_date"]}
            for one in found
        ]
    except (Refusal, ValueError, KeyError, TypeError, httpx.HTTPError):
        return None
