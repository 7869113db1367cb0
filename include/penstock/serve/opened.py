# ruff: noqa: S608 - the text holds names of the view only
"""The open rows of a view: what its speed table has after the cut, kept few enough to be asked anew each second.

Hours without a build leave thousands of epochs, each with its own partials of the same buckets and keys. A tally's are
folded as they come, so that an answer costs what there is to answer and not how often it changed.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from penstock.lake.files import File
from penstock.lake.names import quoted
from penstock.model.view import Sessions, Tally, View
from penstock.serve.engine import Engine
from penstock.serve.files import Files, together

# So many rows are asked in about a millisecond; beyond them, folding is worth its time when a quarter is new.
FEW, SHARE = 2_000, 4


class Opened:
    """Follows the files of one speed table. One thread at a time."""

    def __init__(self, view: View, files: Files, engine: Engine) -> None:
        self._view, self._files, self._engine = view, files, engine
        self._folds = isinstance(view, Tally) and not isinstance(view.of, Sessions)
        self._cut = -1
        self._seen: frozenset[str] = frozenset()
        self._folded: pa.Table | None = None
        self._recent: list[pa.Table] = []

    def rows(self, listed: Sequence[File], cut: int) -> pa.Table | None:
        """The rows of these files that came after the cut; of views that do not add up, all of them."""
        names = frozenset(file.uri for file in listed)
        # A file that went took rows with it, or is another now: all is read anew, from memory.
        if not self._seen <= names or (self._folds and cut != self._cut):
            self._seen, self._folded, self._recent = frozenset(), None, []
        fresh = [self._files.read(file) for file in listed if file.uri not in self._seen]
        self._seen, self._cut = names, cut
        self._recent += [rows for each in fresh if (rows := self._after(each)).num_rows]
        self._fold()
        rows = together([*([self._folded] if self._folded is not None else []), *self._recent])
        # Hundreds of tiny files are asked faster as one piece.
        return rows.combine_chunks() if rows is not None else None

    def _after(self, rows: pa.Table) -> pa.Table:
        return rows.filter(pc.greater(rows["epoch"], self._cut)) if self._folds else rows

    def _fold(self) -> None:
        recent = sum(rows.num_rows for rows in self._recent)
        held = self._folded.num_rows if self._folded is not None else 0
        if not self._folds or recent <= max(FEW, held // SHARE):
            return
        assert isinstance(self._view, Tally)
        rows = together([*([self._folded] if self._folded is not None else []), *self._recent])
        self._folded, self._recent = self._engine.table(folded_sql(self._view), {"rows": rows}), []


def folded_sql(tally: Tally) -> str:
    """One row for each bucket and keys; its epoch is the last that is in it."""
    grouped = ["day", "width", "bucket", *map(quoted, tally.by)]
    folds = [f"{sql} as {quoted(c)}" for name, m in tally.measures.items() for c, sql in m.folds(name).items()]
    totals = ["cast(sum(facts) as bigint) as facts", "max(epoch) as epoch"]
    return f"select {', '.join([*grouped, *totals, *folds])} from rows group by {', '.join(grouped)}"
