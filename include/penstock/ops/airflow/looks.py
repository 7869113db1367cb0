"""The minute's look as tasks: no JVM, nothing heavy until they run."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from penstock.ops.airflow.alerting import base_url
from penstock.ops.airflow.errors import Stalled
from penstock.ops.airflow.runbooks import address
from penstock.settings import Settings


def look_at(prefix: str, *looks: Callable[[Settings, datetime], Iterable[Any]]) -> None:
    """Tells what the looks find; fails with their sentences when any of it is critical. `prefix` names the looks."""
    from penstock.ops.alerts.routes import desk
    from penstock.ops.watch.finding import tell

    settings = Settings.from_env()
    findings = [finding for look in looks for finding in look(settings, datetime.now(UTC))]
    tell(desk(settings.home), findings, base_url() + address("")[:-1], prefix)
    critical = [finding.text for finding in findings if finding.severity == "critical"]
    if critical:
        raise Stalled("\n\n".join(critical))


def everything() -> None:
    from penstock.model.group import groups
    from penstock.ops.watch.machine import disk, log
    from penstock.ops.watch.streams import streams

    look_at(
        "watch.",
        lambda settings, now: streams(settings.home, groups(settings.stream_groups), now),
        lambda settings, _: disk(settings.home),
        lambda settings, _: log(settings.kafka),
        ledger,
        senders,
    )


def senders(settings: Settings, now: datetime) -> Iterable[Any]:
    """Whether what came in the last minutes can be read."""
    from penstock.ops.watch.ingest import spoilt

    for source, silver in silvers(settings):
        yield from spoilt(silver, source.name, now)


def silvers(settings: Settings) -> Iterable[tuple[Any, str]]:
    """Every source and where its silver is, of the release that people read."""
    from penstock.lake.layout import Layout
    from penstock.lake.releases import current
    from penstock.model.domain import domains

    layout = Layout(settings.lake)
    for domain in domains().values():
        release = current(layout, domain.name)
        yield from ((source, layout.silver(release, source.name)) for source in domain.sources)


def ledger(settings: Settings, now: datetime) -> Iterable[Any]:
    """Whether the ledger adds up. That it cannot be read is the log's finding."""
    from confluent_kafka import KafkaException

    from penstock.ops.watch.hours import balances, unbalanced

    try:
        return list(unbalanced(balances(settings), now))
    except KafkaException:
        return []


def close_hours(tell: Callable[[dict[str, Any]], None]) -> int:
    """Tells of every hour that builds may take since the last time; returns how many there were."""
    from penstock.ops.watch.hours import Announced, balances, due

    settings = Settings.from_env()
    announced = Announced(settings.home)
    hours = announced.fresh(due(balances(settings), datetime.now(UTC)))
    for hour in hours:
        tell({"source": hour.source, "hour": hour.hour.isoformat(), "complete": hour.complete, "records": hour.records})
    # Told before remembered: killed in between, the hour is told twice, and a build of nothing new does nothing.
    announced.remember(hours)
    return len(hours)


def arrivals(text: str) -> None:
    """What came in an hour (YYYY-MM-DDTHH, UTC), against what usually comes; and whether anything comes now."""
    from penstock.ops.watch.fields import drift, missing
    from penstock.ops.watch.hours import balances
    from penstock.ops.watch.ingest import shares, volume
    from penstock.ops.watch.silence import silent

    def of_each_source(settings: Settings, now: datetime) -> Iterable[Any]:
        for source, silver in silvers(settings):
            yield from drift(silver, source, hour)
            yield from missing(silver, source, hour)
            yield from silent(silver, source.name, now)

    hour = datetime.strptime(text, "%Y-%m-%dT%H").replace(tzinfo=UTC)
    said = balances(Settings.from_env())
    look_at("arrivals.", lambda *_: volume(said, hour), lambda *_: shares(said, hour), of_each_source)
