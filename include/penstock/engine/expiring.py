"""Facts expire, rollups are kept: what `maintain` does each night for a source that `PENSTOCK_RETENTION` names.

Three steps, each written down in `control/retention` and each done by the first night that can: days are announced;
when all that the log took before is counted, their rollups are kept; their rows of silver are emptied, a day a commit.
Killed anywhere, the next night goes on where this one was. No JVM.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import ColumnProperties, CommitProperties, DeltaTable, WriterProperties, write_deltalake
from deltalake.exceptions import CommitFailedError

from penstock.engine import silver
from penstock.engine.arrived import asked
from penstock.engine.checkpoints import notes
from penstock.engine.lease import builds
from penstock.lake import exact, retention
from penstock.lake.layout import Layout
from penstock.lake.publication import cut_of, open_table
from penstock.lake.retention import ANNOUNCED, EMPTIED, KEPT, Expiry, expiries, last
from penstock.lake.tablelog import NO_HOOKS
from penstock.model.domain import views_of
from penstock.model.retention import Retention, reach

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
# From the announcement until it holds: an epoch that began without it has no record of after that.
NOTICE = timedelta(minutes=10)
# A commit on a day that others write as well is tried again.
TRIES = 5
# Positions follow each other: as differences they take next to nothing.
POSITIONS = ColumnProperties(dictionary_enabled=False, encoding="DELTA_BINARY_PACKED")
HOW = WriterProperties(compression="ZSTD", compression_level=4, column_properties={"offset": POSITIONS})
FACTS = "select coalesce(max(epoch), -1) from rows where disposition = 'fact' and day > $kept and day <= $day"


@dataclass(frozen=True)
class Books:
    """One source's in one release, as of a moment. `unbalanced` are hours that do not add up."""

    layout: Layout
    release: str
    of: Retention
    now: datetime
    unbalanced: Collection[datetime] = ()

    @property
    def source(self) -> str:
        return self.of.source.name

    @property
    def silver(self) -> str:
        return self.layout.silver(self.release, self.source)

    def said(self) -> list[Expiry]:
        return expiries(self.layout, self.release, self.source)

    def note(self, step: str, day: date, since: datetime) -> None:
        retention.note(self.layout, Expiry(self.source, self.release, step, day, since, datetime.now(UTC)))

    @property
    def due(self) -> date:
        """The last day whose facts the setting keeps no longer."""
        return self.now.date() - DAY * (self.of.days + 1)


def expire(books: Books) -> str:
    """Goes as far as this night can; what was done and what waits, in a sentence."""
    told = [kept(books), *emptied(books), announced(books)]
    return f"{books.source}: {'; '.join(each for each in told if each) or 'nothing is due'}"


def announced(books: Books) -> str:
    """Says of which days no more facts are taken. Nothing where none would be emptied by it."""
    if not going(books) or last(books.said(), ANNOUNCED) >= books.due:
        return ""
    since = books.now + NOTICE
    books.note(ANNOUNCED, books.due, since)
    return f"days up to {books.due} are announced, whose facts are rejected from {since:%H:%M} on"


def kept(books: Books) -> str:
    """Freezes the rollups of days that were announced, once nothing can be missing from them."""
    said = books.said()
    before = last(said, KEPT)
    waiting = [each for each in said if each.step == ANNOUNCED and each.day > before]
    over = [each for each in waiting if each.since.replace(minute=0, second=0, microsecond=0) + HOUR <= books.now]
    if not over:
        return ""
    # No build may be between what it has read of these days and what it publishes.
    with builds(books.layout.root, books.release, books.source):
        if why := hindered(books, over[-1], before):
            return f"days up to {over[-1].day} wait: {why}"
        books.note(KEPT, over[-1].day, over[-1].since)
    return f"rollups of days up to {over[-1].day} are kept as they are"


def hindered(books: Books, told: Expiry, before: date) -> str:
    """What is still to be done before the facts of announced days may go; empty: nothing."""
    if wrong := sorted(hour for hour in books.unbalanced if hour <= told.since):
        return f"the hour of {wrong[0]:%Y-%m-%d %H:%M} does not balance in the ledger"
    table = open_table(books.silver)
    newest = asked(table, FACTS, kept=before, day=told.day)[0][0] if table else -1
    if exact.up_to(books.layout, books.release, books.source) < newest:
        return "`close_day` has not compared all of their facts"
    views = [view.name for view in views_of(books.of.source)]
    behind = [view for view in views if cut_of(books.layout, books.release, view, books.source) < newest]
    return f"not yet built: {', '.join(behind)}" if behind else ""


def emptied(books: Books) -> Iterator[str]:
    """Takes from silver what its rows of kept days say, but for a session's night before and a view's horizon."""
    until = last(books.said(), KEPT)
    if until == date.min:
        return
    until -= DAY * reach(books.of.source)
    days = sorted({each.day for each in whole(books, until)})
    for day in days:
        empty(books.silver, day)
    if days:
        books.note(EMPTIED, until, books.now)
        yield f"silver is emptied up to {until}"


class Whole(NamedTuple):
    """A file of silver whose rows were not emptied."""

    day: date
    rows: int
    size: int


def whole(books: Books, until: date) -> list[Whole]:
    """Those of days up to one. What was rebuilt of an emptied day has moments at which facts happened."""
    table, done = open_table(books.silver), last(books.said(), EMPTIED)
    files = pa.table(table.get_add_actions(flatten=True)).to_pylist() if table else []
    return [
        Whole(file["partition.day"], file["num_records"], file["size_bytes"])
        for file in files
        if file["partition.day"] <= until
        and (file["partition.day"] > done or file.get("null_count.happened_at") != file["num_records"])
    ]


def going(books: Books) -> list[Whole]:
    """What the next nights would empty."""
    return whole(books, books.due - DAY * reach(books.of.source))


def empty(path: str, day: date) -> None:
    """One commit: positions and dispositions stay, so that no book and no checkpoint notices."""
    for tried in range(TRIES):
        table = DeltaTable(path)
        # Hundreds of commits without a word of it would hide where the stream stands (checkpoints.COMMITS).
        told = notes(table)[:1]
        try:
            write_deltalake(
                table,
                left(table, day),
                mode="overwrite",
                predicate=f"day = '{day}'",
                writer_properties=HOW,
                commit_properties=CommitProperties(custom_metadata={"penstock": told[0]} if told else {}),
                post_commithook_properties=NO_HOOKS,
            )
            return
        except CommitFailedError:
            if tried + 1 == TRIES:
                raise


def left(table: DeltaTable, day: date) -> pa.RecordBatchReader:
    """What stays of a day's rows, in all of silver's columns."""
    schema = pa.schema(table.schema().to_arrow())
    rows = table.to_pyarrow_dataset().scanner(columns=list(silver.LEFT), filter=ds.field("day") == day)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in rows.to_batches():
            yield from _left(pa.Table.from_batches([batch]), schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def _left(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    flags = pa.array([[retention.EXPIRED]] * rows.num_rows, pa.list_(pa.string()))
    said = {
        "flags": flags,
        **{name: pc.floor_temporal(rows[name], unit="hour") for name in ("received_at", "logged_at")},
    }
    columns = [
        said[field.name] if field.name in said
        else rows[field.name] if field.name in silver.LEFT
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]  # fmt: skip
    return pa.table(columns, names=schema.names).cast(schema)
