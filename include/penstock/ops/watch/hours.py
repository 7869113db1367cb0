"""Which hours are complete: every record that the log took has its place in bronze and its disposition in silver."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from penstock.engine.posting import post
from penstock.lake.layout import Layout
from penstock.lake.ledger import Balance, balance
from penstock.lake.releases import current
from penstock.model.domain import domains
from penstock.ops.watch.finding import Finding
from penstock.settings import Settings

HOUR = timedelta(hours=1)
# An hour that is not complete so long after its end is built as it is, and people are told.
PATIENCE = timedelta(minutes=10)


@dataclass(frozen=True)
class Hour:
    """An hour of a source that builds may take, complete or out of patience."""

    source: str
    hour: datetime
    complete: bool
    records: int


def balances(settings: Settings) -> list[Balance]:
    """The ledger, after it was brought up to the newest commits."""
    layout = Layout(settings.lake)
    said: list[Balance] = []
    for domain in domains().values():
        release = current(layout, domain.name)
        post(layout, domain.sources, release)
        names = {source.name for source in domain.sources}
        said += [each for each in balance(layout.ledger(), settings.kafka, release) if each.source in names]
    return said


def due(said: Iterable[Balance], now: datetime) -> list[Hour]:
    """Hours that are over and that are complete or have waited long enough, oldest first."""
    over = (each for each in said if each.hour + HOUR <= now)
    return [
        Hour(each.source, each.hour, each.balanced, each.archived)
        for each in sorted(over, key=lambda each: (each.hour, each.source))
        if each.balanced or each.hour + HOUR + PATIENCE <= now
    ]


def unbalanced(said: Iterable[Balance], now: datetime) -> Iterator[Finding]:
    """One finding a source, of its latest hour that does not add up."""
    wrong = {each.source: each for each in said if each.hour + HOUR + PATIENCE <= now and not each.balanced}
    for source, hour in wrong.items():
        text = f"{source}, hour {hour.hour:%Y-%m-%d %H:%M}: {hour.wrong}. `penstock ledger` shows every hour."
        yield Finding("ledger_unbalanced", source, "critical", text)


class Announced:
    """Remembers which hours builds have heard of, so that each is told once; complete ones again if they were not."""

    def __init__(self, home: Path) -> None:
        self._file = home / "run" / "hours_announced.json"

    def fresh(self, hours: Iterable[Hour]) -> list[Hour]:
        known = self._read()
        return [hour for hour in hours if known.get(_key(hour)) != [hour.complete, hour.records]]

    def remember(self, hours: Iterable[Hour]) -> None:
        known = self._read() | {_key(hour): [hour.complete, hour.records] for hour in hours}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(known))
        new.replace(self._file)

    def _read(self) -> dict[str, list[object]]:
        known: dict[str, list[object]] = json.loads(self._file.read_text()) if self._file.exists() else {}
        return known


def _key(hour: Hour) -> str:
    return f"{hour.source} {hour.hour.isoformat()}"
