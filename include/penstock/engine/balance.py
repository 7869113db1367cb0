"""What an epoch must keep, asserted in production before each commit: one record, one disposition."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine import silver
from penstock.model.source import Source


class Unbalanced(AssertionError):
    """The shape lost, invented or misjudged rows. Nothing of the epoch was committed, so nothing is wrong in silver."""


def balanced(rows: pa.Table, records: int, source: Source) -> Mapping[str, int]:
    """The epoch's counts by disposition, once they add up to the records that came in."""
    counts = {name: pc.sum(pc.equal(rows["disposition"], name)).as_py() or 0 for name in silver.DISPOSITIONS}
    positions = rows.group_by(["partition", "offset"]).aggregate([]).num_rows
    _must(
        records == rows.num_rows == positions,
        f"{records} records in, {rows.num_rows} rows out at {positions} positions",
    )
    _must(sum(counts.values()) == rows.num_rows, f"{counts} do not add up to {rows.num_rows} rows")
    undeclared = set(pc.unique(rows["reason"]).to_pylist()) - {None, *source.reasons, *silver.REASONS}
    _must(not undeclared, f"undeclared reasons {undeclared}")
    timeless = pc.and_(pc.equal(rows["disposition"], silver.FACT), pc.is_null(rows["happened_at"]))
    _must(not pc.any(timeless).as_py(), "a fact without happened_at")
    return {"rows": rows.num_rows, **counts}


def whole(records: int, rows: int) -> None:
    """Whoever wrote an epoch's files wrote as many rows as were judged."""
    _must(records == rows, f"{records} records in, {rows} rows in files")


def _must(true: bool, otherwise: str) -> None:
    if not true:
        raise Unbalanced(f"{otherwise}. Nothing was committed: correct the shape, then start the stream again.")
