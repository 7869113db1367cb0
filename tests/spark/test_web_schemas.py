"""The published schema of web.events says what its shape does: whatever fits is a fact, and nothing else is."""

import json
from datetime import UTC, datetime

from jsonschema import Draft202012Validator
from pyspark.sql import SparkSession

from domains.web.model import EVENTS
from domains.web.shapes import SHAPES
from penstock.collect.registry.files import paths

ARRIVED = datetime(2026, 3, 29, 12, tzinfo=UTC)
RECORD = (
    "partition int, offset bigint, value binary, logged_at timestamp, timestamp timestamp, received_at timestamp,"
    " event_id string, content_type string, user_agent string, client_address string, client_place string"
)
GOOD = {"site": "a.example", "visitor": "v1", "url": "https://a.example/x"}
VALUES = (
    *(None, "", "event", "v" * 300, "v" * 301, "v" * 4096, "v" * 4097),
    *(0, 5, 99.5, 101, 86_400_001, -1, True, [], {}, {"a": 1}, {"a": None}, {"a": {"b": 1}}, {"a": [1]}),
    {f"p{number}": 1 for number in range(51)},
)
TEXTS = [value for value in VALUES if isinstance(value, str) and value]
# Which texts are addresses, and which times are too old, is more than a schema can say; `imported` may be anything.
NOT_SAID = {"happened_at", "imported"}


def test_what_fits_the_schema_is_a_fact_and_nothing_else_is(spark: SparkSession) -> None:
    schema = json.loads(paths(EVENTS, ".schema.json")[0].read_text())
    changes = [
        (kind, name, value)
        for kind in ("pageview", "event")
        for name in {*schema["properties"]} - NOT_SAID
        for value in VALUES
        if name != "url" or value not in TEXTS
    ]
    events = [{**GOOD, "type": kind, name: value} for kind, name, value in changes]
    fits = [Draft202012Validator(schema).is_valid(event) for event in events]
    rows = [
        (
            0,
            offset,
            bytearray(json.dumps(event).encode()),
            ARRIVED,
            ARRIVED,
            ARRIVED,
            None,
            "application/json",
            None,
            None,
            None,
        )
        for offset, event in enumerate(events)
    ]
    reasons = [
        row["reason"] for row in SHAPES[EVENTS.name](spark.createDataFrame(rows, RECORD)).orderBy("offset").collect()
    ]
    told = zip(changes, fits, reasons, strict=True)
    wrong = [(change, fit, reason) for change, fit, reason in told if fit != (reason is None)]
    assert not wrong, wrong
