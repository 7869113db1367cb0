"""The published schema of web.events says what its shape does: whatever fits is a fact, and nothing else is."""

import json

from factories.web_records import judged
from jsonschema import Draft202012Validator

from domains.web.model import EVENTS
from penstock.collect.registry.files import paths

GOOD = {"site": "a.example", "visitor": "v1", "url": "https://a.example/x"}
VALUES = (
    *(None, "", "event", "v" * 300, "v" * 301, "v" * 4096, "v" * 4097),
    *(0, 5, 99.5, 101, 86_400_001, -1, True, [], {}, {"a": 1}, {"a": None}, {"a": {"b": 1}}, {"a": [1]}),
    {f"p{number}": 1 for number in range(51)},
)
TEXTS = [value for value in VALUES if isinstance(value, str) and value]
# Which texts are addresses, and which times are too old, is more than a schema can say; `imported` may be anything.
NOT_SAID = {"happened_at", "imported"}


def test_what_fits_the_schema_is_a_fact_and_nothing_else_is() -> None:
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
    reasons = judged([json.dumps(event).encode() for event in events])["reason"].to_pylist()
    told = zip(changes, fits, reasons, strict=True)
    wrong = [(change, fit, reason) for change, fit, reason in told if fit != (reason is None)]
    assert not wrong, wrong
