"""The topic of alerts: one message an alert, JSON, with the alert's id as its key."""

import json
import logging
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Producer

from penstock.log.topics import ensure_named

TOPIC, PARTITIONS = "alerts", 4
# The table has every alert; a log that is down must not stop the looking.
PATIENCE_SECONDS = 5.0
log = logging.getLogger(__name__)


class Alerts:
    """At least once: whoever must act once looks at the key."""

    def __init__(self, kafka: str) -> None:
        self._kafka, self._there = kafka, False
        self._producer = Producer(
            {"bootstrap.servers": kafka, "acks": "all", "enable.idempotence": True, "linger.ms": 0, "log_level": 0}
        )

    def tell(self, alerts: Sequence[dict[str, Any]]) -> None:
        if not self._there:
            ensure_named(self._kafka, TOPIC, PARTITIONS)
            self._there = True
        for alert in alerts:
            self._producer.produce(TOPIC, json.dumps(alert, default=str).encode(), key=alert["id"])
        left = self._producer.flush(PATIENCE_SECONDS)
        if left:
            log.warning("%s alerts are in the table and not yet in the topic", left)
