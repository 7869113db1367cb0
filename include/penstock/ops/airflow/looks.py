"""The minute's look as tasks: no JVM, nothing heavy until they run."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from penstock.ops.airflow.alerting import base_url
from penstock.ops.airflow.errors import Stalled
from penstock.ops.airflow.runbooks import address
from penstock.settings import Settings


def look_at(*looks: Callable[[Settings, datetime], Iterable[Any]]) -> None:
    """Tells what the looks find; fails with their sentences when any of it is critical."""
    from penstock.ops.alerts.routes import desk
    from penstock.ops.watch.finding import tell

    settings = Settings.from_env()
    findings = [finding for look in looks for finding in look(settings, datetime.now(UTC))]
    tell(desk(settings.home), findings, base_url() + address("")[:-1])
    critical = [finding.text for finding in findings if finding.severity == "critical"]
    if critical:
        raise Stalled("\n\n".join(critical))


def everything() -> None:
    from penstock.ops.watch.machine import disk, log
    from penstock.ops.watch.streams import streams

    look_at(
        lambda settings, now: streams(settings.home, now),
        lambda settings, _: disk(settings.home),
        lambda settings, _: log(settings.kafka),
    )
