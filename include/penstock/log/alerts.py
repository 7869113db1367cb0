"""The topic of alerts: one message an alert, JSON, with the alert's id as its key."""

import json
import logging
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from confluent_kafka import Producer

from penstock.log.topics import LogUnreachable, ensure_named

TOPIC, PARTITIONS = "alerts", 4
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
