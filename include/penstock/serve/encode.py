"""Rows as JSON: times in UTC with a Z, or in the zone that was asked for; decimals as numbers."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pyarrow as pa


def document(value: Any) -> bytes:
    return orjson.dumps(value, _plain, orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS)


def rows_of(table: pa.Table, zone: str = "UTC") -> list[dict[str, Any]]:
    """Rows as dictionaries; a bucket is an instant, written in the zone."""
    rows: list[dict[str, Any]] = table.to_pylist()
    told = UTC if zone == "UTC" else ZoneInfo(zone)
    for name in {"bucket", "again"} & set(table.column_names):
        for row in rows:
            row[name] = row[name].astimezone(told)
    return rows


def _plain(value: Any) -> Any:
    match value:
        case Decimal():
            return float(value)
        case datetime() | date():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8", "replace")
        case set() | frozenset():
            return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
