"""The audit: who did what, when, why, approved by whom, with before and after. Append-only, written without a JVM."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from penstock.lake.appending import append_once
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table


@dataclass(frozen=True)
class Entry:
    """One operation that changed something. `operation` names it for ever: it is recorded once, however often it runs.

    `what` is the operation's verb (replay, switch, retract), `about` what it was done to (a domain, a source, a table).
    """

    operation: str
    what: str
    about: str
    who: str
    why: str
    approved_by: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


DOCUMENTS = ("before", "after")
SCHEMA = pa.schema(
    [(each.name, pa.timestamp("us", "UTC") if each.name == "at" else pa.string()) for each in fields(Entry)]
)


def record(layout: Layout, entry: Entry) -> bool:
    """Appends the entry, once. False: it is there already, and nothing was written."""
    app = f"audit/{entry.operation}/{entry.what}"
    return append_once(layout.control("audit"), SCHEMA, [_stored(entry)], app)


def entries(layout: Layout, about: str = "", limit: int = 200) -> list[Entry]:
    """What was done, newest first; to one thing, or to all."""
    table = open_table(layout.control("audit"))
    if table is None:
        return []
    rows = table.to_pyarrow_table(filters=[("about", "=", about)] if about else None)
    newest = rows.sort_by([("at", "descending")]).slice(0, limit).to_pylist()
    return [Entry(**{**row, **{name: json.loads(row[name]) for name in DOCUMENTS}}) for row in newest]


def _stored(entry: Entry) -> dict[str, Any]:
    told = entry.as_dict()
    return {**told, **{name: json.dumps(told[name], default=str, sort_keys=True) for name in DOCUMENTS}}
