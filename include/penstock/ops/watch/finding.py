"""What a look may find, and how it becomes one alert each."""

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.ops.alerts.desk import Alert, Desk


@dataclass(frozen=True)
class Finding:
    """`kind` is also the runbook's name; `what` is the stream, source or disk it is about."""

    kind: str
    what: str
    severity: str
    text: str

    def alert(self, runbooks: str, prefix: str) -> Alert:
        title = f"{self.what}: {self.kind.replace('_', ' ')}"
        return Alert(
            f"{prefix}{self.kind}.{self.what}",
            self.severity,
            title,
            self.text,
            links=(("Runbook", f"{runbooks}/{self.kind}"),),
        )


def tell(desk: Desk, findings: Iterable[Finding], runbooks: str, prefix: str) -> None:
    """Opens an alert for each finding, and closes those of earlier looks of this prefix that are found no more."""
    found = {alert.key: alert for alert in (finding.alert(runbooks, prefix) for finding in findings)}
    for alert in found.values():
        desk.broken(alert)
    for key in desk.open():
        if key.startswith(prefix) and key not in found:
            desk.well(key)
