"""The herald: tells of facts that match an urgent rule while silver does not have them yet, straight from the log.

Records go through the same shape, and the same rules are asked of them, as in an epoch. What only silver knows is not
known here: whether another record had the same id before, and what was retracted. So the topic alone is told; the
table gets its rows from silver, as ever (alarm.py), whose alarm also tells whatever the herald missed.
"""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Consumer, TopicPartition

from penstock.engine import silver
from penstock.engine.alarm import armed
from penstock.engine.gaps import watermarks
from penstock.engine.shapes import OfTables, at_once, shape_of
from penstock.lake import alerts
from penstock.lake.alerts import Tell, matches
from penstock.lake.following import Registries
from penstock.lake.layout import Layout
from penstock.log.reading import batch
from penstock.model.rule import Rule
from penstock.model.source import Source
from penstock.settings import Settings

CLIENT = {"group.id": "penstock.herald", "enable.auto.commit": False, "auto.offset.reset": "latest", "log_level": 0}
# Judged together: they take little longer than one.
MOST = 1_000
WAIT_SECONDS, STOP_SECONDS, AGAIN_SECONDS = 0.1, 2.0, 1.0
# A look gives the interpreter away some eighty times, and would wait for an epoch's Python 5 ms each time.
TURN_SECONDS = 0.0005
log = logging.getLogger(__name__)


def urgent(source: Source) -> list[Rule]:
    """The rules that a herald asks; of a source whose shape is Spark's none, as it would have to wait for Spark."""
    asked = [rule for rule in armed(source) if rule.urgent]
    if asked and not isinstance(shape_of(source), OfTables):
        named = ", ".join(rule.name for rule in asked)
        log.warning("%s tells with each epoch, not at once: the shape of %s is one of Spark's rows", named, source.name)
        return []
    return asked


class Herald:
    """The urgent rules of some sources, as long as their domains' current release is this one."""

    def __init__(self, settings: Settings, sources: Sequence[Source], tell: Tell, release: str) -> None:
        self._kafka, self._keys = settings.kafka, settings.home / "keys"
        self._rules = {source: rules for source in sources if (rules := urgent(source))}
        self._tell, self._release = tell, release
        self._registries = Registries(Layout(settings.lake))
        self._end: Consumer | None = None
        self._done = Event()
        self._thread = Thread(target=self._run, name="herald", daemon=True)

    def start(self) -> None:
        if self._rules:
            sys.setswitchinterval(TURN_SECONDS)
            self._thread.start()

    def stop(self) -> None:
        """What was not told by now is told by the alarm."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def look(self) -> None:
        """Waits a moment for records and tells of those that match."""
        self._end = self._end or end_of(self._kafka, [source.name for source in self._rules])
        first = self._end.poll(WAIT_SECONDS)
        if first is None:
            return
        came = [each for each in (first, *self._end.consume(MOST, 0)) if each.error() is None]
        for source, rules in self._rules.items():
            own = [each for each in came if each.topic() == source.name]
            if own and self._registries.of(source.domain).current == self._release:
                alerts.announce(self._tell, matching(pa.Table.from_batches([batch(own)]), source, rules, self._keys))

    def _run(self) -> None:
        while not self._done.is_set():
            try:
                self.look()
            except Exception:
                log.exception("urgent rules could not be asked; the alarm tells what they missed")
                self._done.wait(AGAIN_SECONDS)
        if self._end is not None:
            self._end.close()


def end_of(kafka: str, topics: Sequence[str]) -> Consumer:
    """Reads what comes from now on."""
    reader = Consumer({"bootstrap.servers": kafka, **CLIENT})
    # Asked for now: the end that a reader finds by itself is that of its first fetch.
    ends = {topic: watermarks(kafka, topic).items() for topic in topics}
    reader.assign([TopicPartition(topic, part, end) for topic in topics for part, (_, end) in ends[topic]])
    return reader


def matching(records: pa.Table, source: Source, rules: Sequence[Rule], keys: Path) -> pa.Table:
    """The alerts that these records are, as far as they themselves say. Avro has to wait for Spark, which reads it."""
    plain = records.filter(pc.invert(pc.fill_null(pc.starts_with(records["value"], pattern="\0"), False)))
    rows = at_once(plain, source, keys if source.subjects else None)
    facts = rows.filter(pc.is_null(rows["reason"]))
    days = facts["happened_at"].cast(pa.date32())
    told = facts.append_column("disposition", pa.repeat(silver.FACT, facts.num_rows)).append_column("day", days)
    return matches(rules, told)
