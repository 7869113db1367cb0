"""A log of one partition in a table, as bronze has it, and as the oracle's consumer would see it."""

from typing import Any

import numpy as np
import pyarrow as pa
from oracle.recompute import SCHEMA
from oracle.traffic import traffic

from penstock.engine.archive import BRONZE

TOPIC = "web.events"


def bronze(seed: int, count: int) -> pa.Table:
    rows = [
        {
            "key": sent.key, "value": sent.value, "partition": 0, "offset": offset, "epoch": 0,
            "headers": [{"key": name, "value": text.encode()} for name, text in sent.headers.items()],
        }
        for offset, sent in enumerate(traffic(seed, count))
    ]  # fmt: skip
    now = np.datetime64("now", "us")
    known = pa.schema([field for field in BRONZE if field.name not in ("timestamp", "day")])
    moments = pa.array([now] * len(rows)).cast(BRONZE.field("timestamp").type)
    return pa.Table.from_pylist(rows, known).append_column("timestamp", moments)


def as_log(records: pa.Table) -> pa.Table:
    def row(one: dict[str, Any]) -> dict[str, Any]:
        headers = {header["key"]: header["value"].decode() for header in one["headers"]}
        text = one["value"].decode(errors="ignore") if b"\xff" not in one["value"] else None
        received = int(headers["received_at"]) if "received_at" in headers else None
        known = {name: one[name] for name in ("partition", "offset", "value")}
        return {**known, "topic": TOPIC, "text": text, "header_id": headers.get("event_id"),
                "received_at": received, "logged_at": one["timestamp"]}  # fmt: skip

    return pa.Table.from_pylist([row(one) for one in records.to_pylist()], SCHEMA)
