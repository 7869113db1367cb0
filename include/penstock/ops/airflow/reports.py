"""The week's mail as a task."""

import logging
from pathlib import Path
from tempfile import TemporaryDirectory

from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from penstock.ops.airflow.errors import RequestRefused
from penstock.ops.alerts.routes import mailed, wanted
from penstock.ops.report import Asked, document, page_of, scopes, today
from penstock.settings import Settings

log = logging.getLogger(__name__)


def mail(domain: str, scope: str) -> list[str]:
    """Mails the last seven whole days of a scope, or of each that had facts; whose they were."""
    settings, page, until = Settings.from_env(), page_of(domain), today()
    if not wanted(settings.home, "report"):
        raise AirflowSkipException("Nobody wants reports: add a line `report=mailto://…` to alerts.conf in the home.")
    address = settings.serve_at
    told = scopes(page, until, address)
    if scope and scope not in told:
        raise RequestRefused(f"{scope!r} had no facts in the week to {until.date()}; these had: {', '.join(told)}")
    for each in [scope] if scope else told:
        _send(Asked(domain, page, each, until, address), settings.home)
    return [scope] if scope else told


def _send(asked: Asked, home: Path) -> None:
    title = f"{asked.scope}: the week to {asked.until.date()}"
    with TemporaryDirectory() as folder:
        file = Path(folder, "report.html")
        file.write_text(document(asked))
        if not mailed(home, title, file):
            raise AirflowException(f"{title}: nobody took the mail; the receivers are in alerts.conf in the home.")
    log.info("%s: sent", title)
