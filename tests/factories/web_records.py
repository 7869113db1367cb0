"""Records of the web, with their envelope, as a shape gets them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from domains.web.model import EVENTS
from domains.web.shapes import SHAPES
from penstock.engine.shapes import ASKED

ARRIVED = datetime(2026, 3, 29, 12, tzinfo=UTC)


def records(values: Sequence[bytes | None], envelopes: Sequence[Mapping[str, Any]] = ()) -> pa.Table:
    """Records that arrived at one moment."""
    now = ARRIVED.replace(tzinfo=None)
    moments = dict.fromkeys(("timestamp", "logged_at", "received_at"), now)
    rows = [
        {"partition": 0, "offset": offset, "value": value, **moments, **(envelopes[offset] if envelopes else {})}
        for offset, value in enumerate(values)
    ]
    return pa.Table.from_pylist(rows, ASKED)


def judged(
    values: Sequence[bytes | None], name: str = EVENTS.name, envelopes: Sequence[Mapping[str, Any]] = ()
) -> pa.Table:
    """What the shape of a source says of them."""
    told: pa.Table = SHAPES[name].judge(records(values, envelopes)).sort_by("offset")
    for moment in ("happened_at", "received_at"):
        column = told[moment].cast(pa.timestamp("us", "UTC"))
        told = told.set_column(told.column_names.index(moment), moment, column)
    return told
