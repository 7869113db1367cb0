"""Rows of silver for people: the latest facts of a source, and what was rejected and why."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.lake.files import file_list
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.model.source import Source
from penstock.serve.files import Files, together

COMMON = ("partition", "offset", "epoch", "event_id", "happened_at", "received_at")
# Files that one question may open: the newest hold what is asked for.
MOST_FILES = 200


def latest(
    layout: Layout, files: Files, release: str, source: Source, disposition: str, limit: int, reason: str = ""
) -> list[dict[str, Any]]:
    """The newest rows of one disposition, newest first."""
    table = open_table(layout.silver(release, source.name))
    if table is None:
        return []
    own = [field.name for field in source.fields] if disposition == "fact" else ["reason", "raw"]
    found: list[pa.Table] = []
    for file in sorted(file_list(table), key=lambda file: -(file.greatest.get("epoch") or 0))[:MOST_FILES]:
        rows = files.read(file).select([*COMMON, "disposition", "reason", *[name for name in own if name != "reason"]])
        # Facts of an expired day have no id any more, and nothing to show.
        says = pc.or_(pc.is_valid(rows["event_id"]), pc.is_valid(rows["reason"]))
        chosen = pc.and_(pc.equal(rows["disposition"], disposition), says)
        found.append(rows.filter(pc.and_(chosen, pc.equal(rows["reason"], reason)) if reason else chosen))
        if sum(map(len, found)) >= limit:
            break
    rows = together(found)
    if rows is None:
        return []
    order = [("epoch", "descending"), ("partition", "ascending"), ("offset", "descending")]
    newest: list[dict[str, Any]] = rows.sort_by(order).slice(0, limit).select([*COMMON, *own]).to_pylist()
    return newest
