"""Rebuilds a stream's checkpoint from what Delta recorded: a checkpoint is a bookmark, and the table is the book.

A rebuilt checkpoint names the last committed epoch as begun and not as done, so that the stream runs it once more: its
tables refuse what they have, and whatever a crash left out is written.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

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


def places(layout: Layout, source: str, release: str) -> list[Place]:
    """The archive's and the shape's. The names are those of engine/archive.py and engine/shape.py."""
    archive, shape = layout.checkpoint("archive", source), layout.checkpoint(f"shape/{source}", release)
    return [
        Place(f"archive-{source}", source, archive, layout.bronze(source)),
        Place(f"shape-{source}", source, shape, layout.silver(release, source)),
    ]


@dataclass(frozen=True)
class Book:
    """The query that wrote a table, its last epoch and the next offsets before and after it."""

    query: str
    epoch: int
    before: Mapping[str, int]
    after: Mapping[str, int]


def book(table: str) -> Book | None:
    """What a bronze or silver table says of the stream that writes it; None before its first epoch."""
    try:
        delta = DeltaTable(table)
    except TableNotFoundError:
        return None
    for commit in delta.history(COMMITS):
        note = commit.get("penstock") or {}
        if "query" in note:
            epoch = int(note["epoch"])
            return Book(note["query"], epoch, _next(delta, epoch - 1), _next(delta, epoch))
    return None


def _next(delta: DeltaTable, epoch: int) -> dict[str, int]:
    with duckdb.connect() as memory:
        memory.register("rows", delta.to_pyarrow_dataset())
        return {str(part): end for part, end in memory.execute(OFFSETS, {"epoch": epoch}).fetchall()}


def read(checkpoint: Path) -> tuple[str, int]:
    """The checkpoint's query id and last begun epoch. Raises `Damaged` when it cannot be resumed from."""
    try:
        query = json.loads((checkpoint / "metadata").read_text())["id"]
        begun, done = _numbers(checkpoint / "offsets"), _numbers(checkpoint / "commits")
        for number in begun[-2:]:
            _, _, offsets = (checkpoint / "offsets" / str(number)).read_text().strip().split("\n")
            json.loads(offsets)
        for number in done[-1:]:
            json.loads((checkpoint / "commits" / str(number)).read_text().strip().split("\n")[1])
        expected = list(range(begun[-1] - 1, begun[-1]))[-1:] if begun[-1] > 0 else []
        if done[-1:] not in (expected, begun[-1:]):
            raise Damaged(f"{checkpoint} begins epoch {begun[-1]} after epoch {done[-1:]} is done")
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise Damaged(f"{checkpoint} cannot be read: {error!r}") from error
    return query, begun[-1]


def _numbers(folder: Path) -> list[int]:
    return sorted(int(file.name) for file in folder.iterdir() if file.name.isdigit())


def examine(place: Place) -> str:
    """What is wrong with a checkpoint, judged by its table; empty when nothing is."""
    written, folder = book(place.table), Path(place.checkpoint)
    if written is None:
        return ""
    if not folder.exists():
        return f"lost: {folder} is not there, but its table is at epoch {written.epoch}"
    try:
        query, begun = read(folder)
    except Damaged as damaged:
        return f"damaged: {damaged}"
    if query != written.query:
        return f"foreign: it is of query {query}, but its table was written by {written.query}"
    if begun < written.epoch:
        return f"behind: it is at epoch {begun}, but its table is at epoch {written.epoch}"
    return ""


def heal(place: Place) -> str:
    """Rebuilds the checkpoint if something is wrong with it, and says what was."""
    wrong = examine(place)
    written = book(place.table) if wrong else None
    if written is None:
        return ""
    rewrite(place, written)
    return wrong


def wanted(place: Place) -> dict[int, int]:
    """The offsets that the stream reads next; a partition that is not named is read from its first record."""
    written = book(place.table)
    if written is None:
        return {}
    begun = (Path(place.checkpoint) / "offsets" / str(written.epoch)).read_text().strip().split("\n")
    return {int(part): offset for part, offset in json.loads(begun[2])[place.source].items()}


def rewrite(place: Place, book: Book, done: bool = False) -> None:
    """Puts Spark's own files, in Spark's own order, where the old ones were; those are kept beside them.

    A crash in between leaves what `examine` will find again. `done`: the last epoch need not be run again.
    """
    folder = Path(place.checkpoint)
    if folder.exists():
        kept = sum(1 for _ in folder.parent.glob(f"{folder.name}.damaged-*"))
        folder.rename(folder.with_name(f"{folder.name}.damaged-{kept + 1}"))
    for name in ("offsets", "commits", "sources/0"):
        (folder / name).mkdir(parents=True)
    (folder / "metadata").write_text(json.dumps({"id": book.query}))
    epochs = {number: ends for number, ends in ((book.epoch - 1, book.before), (book.epoch, book.after)) if number >= 0}
    for number, ends in epochs.items():
        (folder / "offsets" / str(number)).write_text(f"v1\n{META}\n{json.dumps({place.source: ends})}\n")
        if number < book.epoch or done:
            (folder / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}\n')


# Settings are left out: Spark then takes those of the session.
META = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}})
