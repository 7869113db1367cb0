"""The topic of alerts: one message an alert, JSON, with the alert's id as its key."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

from confluent_kafka import Producer

from penstock.log.topics import LogUnreachable, ensure_named

TOPIC, PARTITIONS = "alerts", 4
# Facts that were told of, by name: of more than an epoch's, and a day's where alerts are what they should be.
REMEMBERED = 100_000
# The table has every alert; a log that is down must not stop the looking.
PATIENCE_SECONDS = 5.0
CLIENT = {"acks": "all", "enable.idempotence": True, "linger.ms": 0, "log_level": 0}
log = logging.getLogger(__name__)


class Alerts:
    """At least once: whoever must act once looks at the key."""

    def __init__(self, kafka: str) -> None:
        self._kafka = kafka

    @cached_property
    def _producer(self) -> Producer:
        """Made for the first alert, when the topic is there: many who could tell never do."""
        ensure_named(self._kafka, TOPIC, PARTITIONS, PATIENCE_SECONDS)
        return Producer({"bootstrap.servers": self._kafka, **CLIENT})

    def tell(self, alerts: Sequence[dict[str, Any]]) -> None:
        for alert in alerts:
            self._producer.produce(TOPIC, json.dumps(alert, default=str).encode(), key=alert["id"])
        left = self._producer.flush(PATIENCE_SECONDS) if alerts else 0
        if left:
            log.warning("%s alerts are in the table and not yet in the topic", left)

    def tell_if_there(self, alerts: Sequence[dict[str, Any]]) -> None:
        """As serve tells, which answers without a log, too: then the table alone has them."""
        try:
            self.tell(alerts)
        except LogUnreachable as unreachable:
            log.warning("%s alerts are in the table and not in the topic: %s", len(alerts), unreachable)


class Once:
    """One voice for those who may find the same alert: whoever comes first is heard, the other says nothing new."""

    def __init__(self, tell: Callable[[Sequence[dict[str, Any]]], None]) -> None:
        self._tell = tell
        self._told: dict[tuple[object, ...], None] = {}
        self._speaking = Lock()

    def tell(self, alerts: Sequence[dict[str, Any]]) -> None:
        with self._speaking:
            # Backwards, so that of two records of one event the first is told.
            new = {_fact(alert): alert for alert in reversed(alerts) if _fact(alert) not in self._told}
            self._tell([*reversed(new.values())])
            self._told.update(dict.fromkeys(new))
            while len(self._told) > REMEMBERED:
                del self._told[next(iter(self._told))]


def _fact(alert: Mapping[str, Any]) -> tuple[object, ...]:
    return alert["rule"], alert["version"], alert["source"], alert["event_id"]
