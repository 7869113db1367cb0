"""Gives each shaped record its disposition. Pure: Arrow in, Arrow out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine import silver
from penstock.engine.ids import Marks, Seen, contents, hashes
from penstock.lake.retention import EXPIRED, Expiry
from penstock.model.source import Source

# Of arrival, which the broker stamps: a replay in large epochs then calls the same copy the first one.
LOG_ORDER = [("logged_at", "ascending"), ("partition", "ascending"), ("offset", "ascending")]

# What a judgement asks of a shaped record.
JUDGED = ("partition", "offset", "logged_at", "happened_at", "event_id", "content_hash", "reason")


@dataclass(frozen=True)
class Repeats:
    """Which rows repeat an earlier fact, and which use its id for something else."""

    duplicate: pa.Array
    collision: pa.Array


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
    return rows_of(judged(shaped, repeats(shaped, seen)), silver.schema(source), epoch, known)


def repeats(shaped: pa.Table, seen: Seen) -> Repeats:
    """Judged in order of arrival, and told in that of the rows."""
    order = pc.sort_indices(shaped, sort_keys=LOG_ORDER)
    rows = shaped.select(["event_id", "content_hash", "reason"]).take(order)
    # The rejected do neither.
    valid = pc.is_null(rows["reason"]).to_numpy()
    facts = rows.filter(pa.array(valid))
    marks = seen.judge(hashes(facts["event_id"]), contents(facts))
    return Repeats(*(put_back(spread(each, valid), order) for each in marks))


def judged(shaped: pa.Table, found: Repeats) -> pa.Table:
    """The same records, each with its reason and its disposition."""
    reason = pc.if_else(found.collision, pa.scalar(silver.ID_COLLISION), shaped["reason"])
    told = pc.if_else(found.duplicate, silver.DUPLICATE, silver.FACT)
    disposition = pc.if_else(pc.is_valid(reason), silver.REJECTED, told)
    shaped = shaped.set_column(shaped.column_names.index("reason"), "reason", reason)
    return shaped.append_column("disposition", disposition)


def rows_of(records: pa.Table, columns: pa.Schema, epoch: int, known: str | None = None) -> pa.Table:
    """Rows of silver, of judged records with all that the shape said of them."""
    fact, rejected = (pc.equal(records["disposition"], name) for name in (silver.FACT, silver.REJECTED))
    added = {
        # Not in Spark's plan: a number that changes in it is code that is compiled again, each epoch.
        "epoch": pa.repeat(pa.scalar(epoch, pa.int64()), records.num_rows),
        "day": pc.if_else(fact, records["happened_at"], records["logged_at"]).cast(pa.date32()),
        "known": pa.repeat(pa.scalar(known, pa.string()), records.num_rows),
        "raw": pc.if_else(rejected, records["value"], pa.scalar(None, pa.binary())),
    }
    return pa.table([added[name] if name in added else records[name] for name in columns.names], columns)


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


def spread(marks: Marks, valid: Marks) -> Marks:
    """Marks of the valid rows as marks of all rows."""
    every = np.zeros(len(valid), dtype=bool)
    every[valid] = marks
    return every


def put_back(marks: Marks, order: pa.Array) -> pa.Array:
    """Marks of sorted rows as marks of the rows as they were."""
    every = np.zeros(len(order), dtype=bool)
    every[order.to_numpy()] = marks
    return pa.array(every)
