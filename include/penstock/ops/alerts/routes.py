"""Who hears of what: `<home>/alerts.conf`, one `severity=address` a line, addresses as Apprise writes them.

    critical=mailto://user:password@mail.example?to=oncall@example.org
    critical,warning=slack://…
    info=json://127.0.0.1:9000/hook
    report=mailto://user:password@mail.example?to=team@example.org

The file holds secrets, so it is the operator's own and is read by nobody else. Without it, alerts are in the log only.
"""

import json
from pathlib import Path
from time import time
from typing import Any

from penstock.ops.alerts.desk import Desk

SUBJECT = "penstock"


def desk(home: Path) -> Desk:
    """The desk of this home."""
    return Desk(home / "run" / "alerts", Routes(home / "alerts.conf", home / "logs" / "alerts.jsonl"), time)


def wanted(home: Path, tag: str) -> bool:
    """Whether the file names anybody for it."""
    file = home / "alerts.conf"
    return file.exists() and any(_post(file).find(tag))


def mailed(home: Path, title: str, document: Path) -> bool:
    """Sends a document of HTML to those who are named for `report`, as text and, for its pictures, as a file."""
    file = home / "alerts.conf"
    if not file.exists():
        return False
    import apprise

    told = _post(file).notify(
        title=title,
        body=document.read_text(),
        tag="report",
        body_format=apprise.NotifyFormat.HTML,
        attach=str(document),
    )
    return bool(told.status == apprise.AppriseResultStatus.SUCCESS)


class Routes:
    """Sends by severity, and writes down every message whoever hears it."""

    def __init__(self, file: Path, log: Path) -> None:
        self._file, self._log = file, log

    def __call__(self, severity: str, title: str, body: str) -> bool:
        sent = self._sent(severity, title, body)
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a") as log:
            told = {"at": time(), "severity": severity, "title": title, "body": body, "sent": sent}
            log.write(json.dumps(told) + "\n")
        return sent or not self._file.exists()

    def _sent(self, severity: str, title: str, body: str) -> bool:
        if not self._file.exists():
            return False
        import apprise

        kind = {"critical": apprise.NotifyType.FAILURE, "warning": apprise.NotifyType.WARNING}
        told = _post(self._file).notify(
            title=f"{SUBJECT}: {title}",
            body=body,
            tag=severity,
            notify_type=kind.get(severity, apprise.NotifyType.INFO),
        )
        # That nobody wants this severity is an answer too; only a receiver that refused is asked again.
        return bool(told.status != apprise.AppriseResultStatus.FAILURE)


def _post(file: Path) -> Any:
    """Whoever the file names. 300 modules: only a process that has something to say imports them."""
    import apprise

    post = apprise.Apprise()
    routes = apprise.AppriseConfig()
    routes.add_config(file.read_text(), format=apprise.ConfigFormat.TEXT)
    post.add(routes)
    return post
