"""Gives each shaped record its disposition. Pure: Arrow in, Arrow out."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine import silver
from penstock.engine.ids import Marks, Seen, contents, hashes
from penstock.lake.retention import EXPIRED, Expiry
from penstock.model.source import Source

# Of arrival, which the broker stamps: a replay in large epochs then calls the same copy the first one.
LOG_ORDER = [("logged_at", "ascending"), ("partition", "ascending"), ("offset", "ascending")]

JUDGED = ("event_id", "content_hash", "reason")


def disposed(
    shaped: pa.Table,
    seen: Seen,
    source: Source,
    epoch: int,
    known: str | None = None,
    announced: Sequence[Expiry] = (),
) -> pa.Table:
    """Rows of silver: repeated facts become duplicates, and an id with other content is a collision.

    `known`: how far other sources were read. `announced`: which days had expired since when.
    """
    shaped = in_time(shaped, announced)
    # Judged in order of arrival, and left as they are: to sort all columns takes five times as long as all else.
    order = pc.sort_indices(shaped, sort_keys=LOG_ORDER)
    judgement = repeats(shaped.select([*JUDGED]).take(order), seen)
    duplicate, collision = (put_back(marks, order) for marks in judgement)
    reason = pc.if_else(collision, pa.scalar(silver.ID_COLLISION), shaped["reason"])
    rejected = pc.is_valid(reason)
    fact = pc.invert(pc.or_(rejected, duplicate))
    judged = {
        # Not in Spark's plan: a number that changes in it is code that is compiled again, each epoch.
        "epoch": pa.repeat(pa.scalar(epoch, pa.int64()), shaped.num_rows),
        "reason": reason,
        "disposition": pc.if_else(rejected, silver.REJECTED, pc.if_else(duplicate, silver.DUPLICATE, silver.FACT)),
        "day": pc.if_else(fact, shaped["happened_at"], shaped["logged_at"]).cast(pa.date32()),
        "known": pa.repeat(pa.scalar(known, pa.string()), shaped.num_rows),
        "raw": pc.if_else(rejected, shaped["value"], pa.scalar(None, pa.binary())),
    }
    columns = silver.schema(source)
    return pa.table([judged[name] if name in judged else shaped[name] for name in columns.names], columns)


def in_time(shaped: pa.Table, announced: Sequence[Expiry]) -> pa.Table:
    """Facts of a day that had expired when the log took them are rejected, whenever they are judged."""
    if not announced:
        return shaped
    since = np.array([each.since.replace(tzinfo=None) for each in announced], "datetime64[us]")
    # Before the first announcement no day had.
    days = np.array([np.datetime64("NaT"), *(each.day for each in announced)], "datetime64[D]")
    taken = shaped["logged_at"].to_numpy().astype("datetime64[us]")
    late = shaped["happened_at"].to_numpy().astype("datetime64[D]") <= days[np.searchsorted(since, taken, "right")]
    reason = pc.if_else(pc.and_(pa.array(late), pc.is_null(shaped["reason"])), EXPIRED, shaped["reason"])
    return shaped.set_column(shaped.column_names.index("reason"), "reason", reason)


def repeats(rows: pa.Table, seen: Seen) -> tuple[pa.Array, pa.Array]:
    """Which rows repeat an earlier fact, and which use its id for something else. The rejected do neither."""
    valid = pc.is_null(rows["reason"]).to_numpy()
    facts = rows.filter(pa.array(valid))
    marks = seen.judge(hashes(facts["event_id"]), contents(facts))
    return spread(marks[0], valid), spread(marks[1], valid)


def put_back(marks: pa.Array, order: pa.Array) -> pa.Array:
    """Marks of sorted rows as marks of the rows as they were."""
    every = np.zeros(len(order), dtype=bool)
    every[order.to_numpy()] = marks.to_numpy(zero_copy_only=False)
    return pa.array(every)


def spread(marks: Marks, valid: Marks) -> pa.Array:
    """Marks of the valid rows as marks of all rows."""
    every = np.zeros(len(valid), dtype=bool)
    every[valid] = marks
    return pa.array(every)
