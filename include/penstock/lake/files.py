"""Which files a table has at a version, as Delta's log says."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from penstock.lake.publication import open_table


@dataclass(frozen=True)
class File:
    """One file of a table: where it is, its partition values, the greatest and least of some columns, and its rows."""

    uri: str
    partition: Mapping[str, Any]
    least: Mapping[str, Any]
    greatest: Mapping[str, Any]
    rows: int


def size_of(path: str, version: int | None = None, first: date | None = None) -> tuple[int, int]:
    """Rows and bytes of a table, as its log counts them (of its days from `first` on); nothing where there is none."""
    table = open_table(path, version)
    if table is None:
        return 0, 0
    files = pa.table(table.get_add_actions(flatten=True))
    if first is not None:
        files = files.filter(pc.field("partition.day") >= pa.scalar(first))
    return pc.sum(files["num_records"]).as_py() or 0, pc.sum(files["size_bytes"]).as_py() or 0


def rows_by_day(table: DeltaTable) -> dict[date, int]:
    """From the commits alone, so that it costs the same however many rows there are."""
    files = pa.table(table.get_add_actions(flatten=True)).select(["partition.day", "num_records"])
    summed = files.group_by("partition.day").aggregate([("num_records", "sum")])
    return dict(zip(*(summed[name].to_pylist() for name in ("partition.day", "num_records_sum")), strict=True))


def file_list(table: DeltaTable) -> list[File]:
    """Every file of a table at its version."""
    actions = pa.table(table.get_add_actions(flatten=False)).to_pylist()
    return [
        File(
            uri_of(table, each["path"]),
            each.get("partition") or {},
            each.get("min") or {},
            each.get("max") or {},
            each.get("num_records") or 0,
        )
        for each in actions
    ]


def file_of(table: DeltaTable, added: Mapping[str, Any]) -> File:
    """A file as one version added it, for who reads it whatever it has: what the log says of that is left out."""
    values: Mapping[str, str] = added["partitionValues"]
    partition = {name: date.fromisoformat(value) if name == "day" else value for name, value in values.items()}
    return File(uri_of(table, added["path"]), partition, {}, {}, 0)


def uri_of(table: DeltaTable, name: str) -> str:
    """Of a file by its name in the log, which is encoded once more than on disk."""
    return f"{table.table_uri.rstrip('/')}/{unquote(name)}"
