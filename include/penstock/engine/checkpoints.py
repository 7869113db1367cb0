"""Rebuilds a stream's checkpoint from what Delta recorded: a checkpoint is a bookmark, and the table is the book.

A rebuilt checkpoint names the last committed epoch as begun and not as done, so that the stream runs it once more: its
tables refuse what they have, and whatever a crash left out is written.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from penstock.lake import place as lake
from penstock.lake.layout import Layout

# How many commits back an epoch's note is looked for; between two epochs there are only a few of maintenance.
COMMITS = 200

OFFSETS = """
select partition, max("offset") + 1 as next from rows where epoch <= $epoch group by all order by all
"""


class Damaged(RuntimeError):
    """A checkpoint cannot be read; the message says where."""


@dataclass(frozen=True)
class Place:
    """Where a job of a source keeps its checkpoint, and the table that tells the truth about it."""

    job: str
    source: str
    checkpoint: str
    table: str
    ledger: str


def places(layout: Layout, source: str, release: str) -> list[Place]:
    """The archive's and the shape's. The names are those of engine/archive.py and engine/shape.py."""
    archive, shape = layout.checkpoint("archive", source), layout.checkpoint(f"shape/{source}", release)
    return [
        Place(f"archive-{source}", source, archive, layout.bronze(source), layout.ledger()),
        Place(f"shape-{source}", source, shape, layout.silver(release, source), layout.ledger()),
    ]


@dataclass(frozen=True)
class Book:
    """The query that wrote a table, its last epoch and the next offsets before and after it.

    `batch`: a replay wrote that epoch, from bronze; the log need not have its records any more.
    `topic`: the id of the topic that the last epoch which says so was read from.
    """

    query: str
    epoch: int
    before: Mapping[str, int]
    after: Mapping[str, int]
    batch: bool = False
    topic: str = ""


def book(table: str) -> Book | None:
    """What a bronze or silver table says of the stream that writes it; None before its first epoch."""
    try:
        delta = DeltaTable(table)
    except TableNotFoundError:
        return None
    told = notes(delta)
    if not told:
        return None
    last, topic = told[0], next((note["topic"] for note in told if note.get("topic")), "")
    epoch = int(last["epoch"])
    before, after = _next(delta, epoch - 1), _next(delta, epoch)
    return Book(last["query"], epoch, before, after, "archived" in last, topic)


def notes(delta: DeltaTable, every: bool = False) -> list[Mapping[str, Any]]:
    """What the epochs among a table's last commits (`every`: all that its log has) said of themselves, newest first."""
    told = delta.history(None if every else COMMITS)
    return [note for commit in told if "query" in (note := commit.get("penstock") or {})]


def _next(delta: DeltaTable, epoch: int) -> dict[str, int]:
    with duckdb.connect() as memory:
        memory.register("rows", delta.to_pyarrow_dataset())
        return {str(part): end for part, end in memory.execute(OFFSETS, {"epoch": epoch}).fetchall()}


def read(checkpoint: lake.Place) -> tuple[str, int]:
    """The checkpoint's query id and last begun epoch. Raises `Damaged` when it cannot be resumed from."""
    try:
        query = json.loads(checkpoint.read("metadata"))["id"]
        begun, done = _numbers(checkpoint.below("offsets")), _numbers(checkpoint.below("commits"))
        for number in begun[-2:]:
            json.loads(_lines(checkpoint, f"offsets/{number}")[2])
        for number in done[-1:]:
            json.loads(_lines(checkpoint, f"commits/{number}")[1])
        expected = list(range(begun[-1] - 1, begun[-1]))[-1:] if begun[-1] > 0 else []
        if done[-1:] not in (expected, begun[-1:]):
            raise Damaged(f"{checkpoint.path} begins epoch {begun[-1]} after epoch {done[-1:]} is done")
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise Damaged(f"{checkpoint.path} cannot be read: {error!r}") from error
    return query, begun[-1]


def _lines(checkpoint: lake.Place, name: str) -> list[str]:
    """A file of Spark's: its version, then a line for each thing it says."""
    return checkpoint.read(name).decode().strip().split("\n")


def _numbers(folder: lake.Place) -> list[int]:
    return sorted(int(name) for name in folder.names() if name.isdigit())


def examine(place: Place) -> str:
    """What is wrong with a checkpoint, judged by its table; empty when nothing is."""
    written = book(place.table)
    return "" if written is None else _judged(place, written)


def _judged(place: Place, written: Book) -> str:
    folder = lake.place(place.checkpoint)
    if not folder.there():
        return f"lost: {place.checkpoint} is not there, but its table is at epoch {written.epoch}"
    try:
        query, begun = read(folder)
    except Damaged as damaged:
        return f"damaged: {damaged}"
    if query != written.query:
        return f"foreign: it is of query {query}, but its table was written by {written.query}"
    if begun < written.epoch:
        return f"behind: it is at epoch {begun}, but its table is at epoch {written.epoch}"
    try:
        return differing(place, written)
    except (OSError, ValueError, LookupError, TypeError) as error:
        return f"damaged: its offsets of epoch {written.epoch} cannot be read: {error!r}"


def differing(place: Place, written: Book) -> str:
    """Where a checkpoint goes on elsewhere than its table ends: a bit may flip in what is still JSON."""
    for part, end in ends(place, written.epoch).items():
        known = written.after.get(str(part), 0)
        begun = _first(place).get(part) if known == 0 else known
        if end not in (known, begun, accepted(place, part)):
            return f"damaged: it goes on at offset {end} of partition {part}, but its table ends at {known}"
    return ""


def accepted(place: Place, part: int) -> int | None:
    """The offset after records of a partition that an operator has accepted as lost (engine/gaps.py)."""
    try:
        return DeltaTable(place.ledger).transaction_version(f"lost/{place.source}/{part}")
    except TableNotFoundError:
        return None


def heal(place: Place) -> str:
    """Rebuilds the checkpoint if something is wrong with it, and says what was."""
    written, checkpoint = book(place.table), lake.place(place.checkpoint)
    if written is None:
        # Nothing is written, so there is nothing to go on from, and whatever the files say is of no use.
        checkpoint.remove()
        return ""
    # An epoch that no table has is planned anew, whatever its files say by now. Of a large one Spark may have called it
    # done and begun the next (engine/shape.py).
    for name in (f"offsets/{written.epoch + 2}", f"commits/{written.epoch + 1}", f"offsets/{written.epoch + 1}"):
        checkpoint.forget(name)
    wrong = _judged(place, written)
    if wrong:
        rewrite(place, written, done=written.batch)
    return wrong


def wanted(place: Place) -> dict[int, int]:
    """The offsets that the stream reads next; a partition that is not named is read from its first record."""
    written = book(place.table)
    return {} if written is None else ends(place, written.epoch)


def span(place: Place, epoch: int) -> dict[int, tuple[int, int]]:
    """Offsets [first, next) of each partition in an epoch, which the checkpoint holds before the epoch runs.

    A partition that is new begins at zero: Spark refuses one that does not.
    """
    begins = ends(place, epoch - 1) if epoch else _first(place)
    return {part: (begins.get(part, 0), end) for part, end in ends(place, epoch).items()}


def ends(place: Place, epoch: int) -> dict[int, int]:
    """The offset after each partition's last record of an epoch."""
    told = _lines(lake.place(place.checkpoint), f"offsets/{epoch}")
    return {int(part): offset for part, offset in json.loads(told[2])[place.source].items()}


def _first(place: Place) -> dict[int, int]:
    """Where the query began to read: Spark notes it before its first epoch, behind a byte and the version."""
    try:
        told = lake.place(place.checkpoint).read("sources/0/0").decode().partition("{")
        return {int(part): offset for part, offset in json.loads("{" + told[2])[place.source].items()}
    except (OSError, ValueError, KeyError):
        # A checkpoint that was rebuilt has no such file, and it is read by nobody once an epoch is done.
        return {}


def rewrite(place: Place, book: Book, done: bool = False) -> None:
    """Puts Spark's own files, in Spark's own order, where the old ones were; those are kept beside them.

    A crash in between leaves what `examine` will find again. `done`: the last epoch need not be run again.
    """
    folder = lake.place(place.checkpoint)
    if folder.there():
        folder.moved(_beside(folder))
    for epoch, ends in ((book.epoch - 1, book.before), (book.epoch, book.after)):
        if epoch >= 0:
            folder.write(f"offsets/{epoch}", f"v1\n{META}\n{json.dumps({place.source: ends})}\n".encode())
        if epoch >= 0 and (epoch < book.epoch or done):
            folder.write(f"commits/{epoch}", b'v1\n{"nextBatchWatermarkMs":0}\n')
    # Last: a checkpoint without it is none, and is rebuilt again.
    folder.write("metadata", json.dumps({"id": book.query}).encode())


def _beside(folder: lake.Place) -> lake.Place:
    """The next name for a damaged checkpoint."""
    above, _, name = folder.path.rpartition("/")
    kept = sum(other.startswith(f"{name}.damaged-") for other in lake.Place(folder.files, above).names())
    return lake.Place(folder.files, f"{folder.path}.damaged-{kept + 1}")


# Settings are left out: Spark then takes those of the session.
META = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}})
