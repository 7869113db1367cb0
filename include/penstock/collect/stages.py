"""How far events have come: accepted, archived, and then fact, rejected (why) or duplicate, as the lake says.

The lake's reader is only loaded when somebody asks: a collector that nobody asks stays half as big.
"""

import asyncio
import time
from typing import TYPE_CHECKING, Any

from penstock.collect.receipts import Receipt
from penstock.lake.layout import Layout

if TYPE_CHECKING:
    from deltalake import DeltaTable

# How often a waiting sender's events are looked for; all who wait share one look.
LOOK = 0.2
FINAL = ("fact", "rejected", "duplicate")


class Stages:
    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._tables: dict[str, DeltaTable] = {}
        self._looking = asyncio.Lock()

    async def of(self, receipt: Receipt) -> list[dict[str, Any]]:
        """The stage of each event, in the order they were sent."""
        async with self._looking:
            return await asyncio.to_thread(self._look, receipt)

    async def wait(self, receipt: Receipt, seconds: float) -> list[dict[str, Any]]:
        """The stages once every event has its disposition, or when the time is over."""
        deadline = time.monotonic() + seconds
        while True:
            stages = await self.of(receipt)
            if settled(stages) or time.monotonic() + LOOK > deadline:
                return stages
            await asyncio.sleep(LOOK)

    def _look(self, receipt: Receipt) -> list[dict[str, Any]]:
        from penstock.lake.releases import current

        release = current(self._layout, receipt.source.partition(".")[0])
        columns = ["partition", "offset", "event_id", "disposition", "reason"]
        rows = self._rows(self._layout.silver(release, receipt.source), receipt, columns)
        if receipt.positions:
            shaped = {(row["partition"], row["offset"]): row for row in rows}
            archived = self._rows(self._layout.bronze(receipt.source), receipt, columns[:2])
            stored = {(row["partition"], row["offset"]) for row in archived}
            return [_told(shaped.get(place), place in stored) for place in receipt.positions]
        shaped_ids = {row["event_id"]: row for row in sorted(rows, key=_worst_first)}
        return [_told(shaped_ids.get(event_id), False, event_id) for event_id in receipt.ids]

    def _rows(self, path: str, receipt: Receipt, columns: list[str]) -> list[dict[str, Any]]:
        """The rows of a table that are about this receipt's events."""
        import pyarrow.compute as pc

        table = self._table(path)
        if table is None:
            return []
        if receipt.positions:
            partitions = sorted({partition for partition, _ in receipt.positions})
            offsets = sorted({offset for _, offset in receipt.positions})
            wanted = pc.field("partition").isin(partitions) & pc.field("offset").isin(offsets)
            # Files that cannot hold them are skipped by the bounds that Delta keeps of each.
            wanted &= (pc.field("offset") >= offsets[0]) & (pc.field("offset") <= offsets[-1])
        elif "event_id" in columns:
            wanted = pc.field("event_id").isin(receipt.ids)
        else:
            return []
        rows: list[dict[str, Any]] = table.to_pyarrow_dataset().to_table(columns=columns, filter=wanted).to_pylist()
        return rows

    def _table(self, path: str) -> "DeltaTable | None":
        from penstock.lake.publication import open_table

        table = self._tables.get(path)
        if table is not None:
            table.update_incremental()
            return table
        table = open_table(path)
        if table is not None:
            self._tables[path] = table
        return table


def settled(stages: list[dict[str, Any]]) -> bool:
    return all(stage["stage"] in FINAL for stage in stages)


def _worst_first(row: dict[str, Any]) -> int:
    """An id that is on the log twice has a fact and a duplicate: the fact is what its sender wants to know."""
    return int(row["disposition"] == "fact")


def _told(row: dict[str, Any] | None, archived: bool, event_id: str | None = None) -> dict[str, Any]:
    if row is None:
        stage: dict[str, Any] = {"stage": "archived" if archived else "accepted"}
    else:
        event_id = row["event_id"]
        stage = {"stage": row["disposition"]}
        if row["reason"] is not None:
            stage["reason"] = row["reason"]
    return {"id": event_id, **stage} if event_id else stage
