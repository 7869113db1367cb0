"""What a look may find, and how it becomes one alert each."""

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.ops.alerts.desk import Alert, Desk

PREFIX = "watch."


@dataclass(frozen=True)
class Finding:
    """`kind` is also the runbook's name; `what` is the stream, source or disk it is about."""

    kind: str
    what: str
    severity: str
    text: str

    @property
    def key(self) -> str:
        return f"{PREFIX}{self.kind}.{self.what}"

    def alert(self, runbooks: str) -> Alert:
        title = f"{self.what}: {self.kind.replace('_', ' ')}"
        return Alert(self.key, self.severity, title, self.text, links=(("Runbook", f"{runbooks}/{self.kind}"),))


def tell(desk: Desk, findings: Iterable[Finding], runbooks: str) -> None:
    """Opens an alert for each finding and closes those of earlier looks that are found no more."""
    found = {finding.key: finding for finding in findings}
    for finding in found.values():
        desk.broken(finding.alert(runbooks))
    for key in desk.open():
        if key.startswith(PREFIX) and key not in found:
            desk.well(key)
