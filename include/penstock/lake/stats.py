"""What Delta's log says of a file, so that readers can skip it: rows, least, greatest and nulls of some columns."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

MILLISECOND = timedelta(milliseconds=1)


def statistics(rows: pa.Table, columns: Sequence[str]) -> str:
    """The JSON of a file's statistics. A timestamp is rounded outwards, as Delta keeps milliseconds only."""
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    for name in columns:
        ends = pc.min_max(rows[name]).as_py()
        if ends["min"] is not None:
            least[name] = _text(ends["min"])
            greatest[name] = _text(ends["max"] + MILLISECOND if isinstance(ends["max"], datetime) else ends["max"])
    nulls = {name: rows[name].null_count for name in columns}
    return json.dumps({"numRecords": rows.num_rows, "minValues": least, "maxValues": greatest, "nullCount": nulls})


def _text(value: Any) -> Any:
    return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03d}Z" if isinstance(value, datetime) else value
