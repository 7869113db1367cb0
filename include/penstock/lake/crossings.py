"""Crossings: what a threshold has told, by whichever process of serve, of whichever release: each id once.

The table of alerts is the book. Who tells has read at some version what was told before; the commit names the
threshold as its transaction, and Delta refuses it when another told of the same threshold since that version.
"""

from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from penstock.lake import alerts
from penstock.lake.alerts import SCHEMA
from penstock.lake.appending import append, append_once
from penstock.lake.layout import Layout
from penstock.model.rule import Threshold


class Crossings:
    """The alerts of one threshold, in one lake."""

    def __init__(self, layout: Layout, rule: Threshold) -> None:
        self._table = alerts.book(layout.alerts())
        self._path, self._rule = layout.alerts(), rule.name
        self._app = f"threshold-{rule.name}/{rule.version}"
        # Those of the horizon that was asked for last.
        self._ids: set[str] = set()

    def since(self, first: datetime) -> datetime:
        """From which bucket on it tells: `first`, unless it was armed before. What was before that is history."""
        append_once(self._path, SCHEMA, [], self._app, int(first.timestamp()))
        self._table.update_incremental()
        return datetime.fromtimestamp(self._table.transaction_version(self._app) or 0, UTC)

    def fresh(self, found: pa.Table, first: datetime) -> pa.Table:
        """Those of the alerts found, of buckets from `first` on, that nobody has told."""
        if self._unknown(found).num_rows:
            self._table.update_incremental()
            mine = (pc.field("rule") == self._rule) & (pc.field("day") >= pa.scalar(first.date()))
            rows = self._table.to_pyarrow_dataset().to_table(["id"], filter=mine)
            self._ids = {*rows["id"].to_pylist()}
        return self._unknown(found)

    def keep(self, found: pa.Table, since: datetime) -> bool:
        """False: another told of this threshold since `fresh` looked; nothing was written, and one looks again."""
        kept = append(self._table, SCHEMA, found.to_pylist(), self._app, int(since.timestamp()))
        self._ids |= {*found["id"].to_pylist()} if kept else set()
        return kept

    def _unknown(self, found: pa.Table) -> pa.Table:
        return found.filter(pc.invert(pc.is_in(found["id"], pa.array(self._ids, pa.string()))))
