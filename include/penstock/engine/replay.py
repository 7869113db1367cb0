"""The replay: one source's bronze becomes the silver of a new release, by the batch plan of its shape.

It goes through bronze in the order of arrival, in epochs of many records, and each is one idempotent commit: a replay
that was killed goes on after its last epoch, builds may be cut at any of them, and the release's stream goes on after
the last one. What repeats an id is judged over all of history.
"""

import math
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from penstock.engine import bronze, silver, versions
from penstock.engine.arrived import asked
from penstock.engine.balance import balanced, whole
from penstock.engine.bronze import Here, Shaped
from penstock.engine.checkpoints import book, examine, notes, rewrite
from penstock.engine.commit import Appender, Files, create
from penstock.engine.dispositions import Repeats, judged, repeats, rows_of
from penstock.engine.history import remembered
from penstock.engine.scope import Chunk, Scope, as_known
from penstock.engine.shape import Shape
from penstock.engine.versions import Table
from penstock.lake.files import size_of
from penstock.lake.place import place
from penstock.lake.releases import Refused
from penstock.lake.session import at_once
from penstock.lake.tablelog import Written

# About 1 kB each, held here or by who shapes them until its files are made.
EPOCH_RECORDS = 100_000
# Epochs that are shaped at once, and as many whose files are made after them.
ABREAST = 4
# So many records say whether code rejects everything; fewer may simply all be wrong.
ENOUGH_RECORDS = 10_000
# What came meanwhile is replayed as well, until so little is left that the stream has it in seconds.
CLOSE_ENOUGH = 20_000


@dataclass
class Told:
    """How far the replay of a source is."""

    source: str
    total: int
    done: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, counts: Mapping[str, int], seconds: float) -> None:
        self.done += counts["rows"]
        self.seconds = seconds
        for name in silver.DISPOSITIONS:
            self.counts[name] = self.counts.get(name, 0) + counts[name]


@dataclass(frozen=True)
class Judged:
    """An epoch of which it is known what becomes of each record, and whose files may still be on their way."""

    number: int
    archived: int
    counts: Mapping[str, int]
    written: Callable[[], list[Written]]

    def files(self) -> list[Written]:
        """Waits for them. One row a record, whoever made them."""
        files = self.written()
        whole(self.counts["rows"], sum(file.records for file in files))
        return files


@dataclass
class Replay:
    """One source into one release. `tell` hears of every epoch."""

    spark: SparkSession
    shape: Shape
    tell: Callable[[Told], None] = lambda told: None
    size: int = field(default_factory=lambda: EPOCH_RECORDS)
    scope: Scope = field(default_factory=Scope)
    # Whether the release that is current has any fact of the source: then a replay must find some too.
    facts_expected: bool = False

    def run(self) -> Told:
        """All that bronze has, and goes on until hardly anything is new. Again: only what is left."""
        path = self.shape.layout.bronze(self.shape.source.name)
        table = self.shape.place.table
        create(table, silver.schema(self.shape.source), silver.INDEXED)
        self.shape.seen = remembered(table, math.inf)
        query, number, archived = stand(table, self._query())
        # What was done before it was killed counts too: else a replay that only has its views left made no fact.
        counts = dict(asked(DeltaTable(table), "select disposition, count(*) from rows group by all"))
        told = Told(self.shape.source.name, size_of(path)[0], sum(counts.values()), counts)
        begun, left, silvers = time.perf_counter(), math.inf, Appender(table)
        while left > CLOSE_ENOUGH:
            archive = versions.table(DeltaTable(path))
            of_bronze = self._chunks(archive, archived)
            for epoch in _behind(self._judged(archive, of_bronze, number, silvers.files), self._abreast):
                number, archived = epoch.number, epoch.archived
                silvers.add(epoch.files(), query, number, archived=archived)
                told.add(epoch.counts, time.perf_counter() - begun)
                self._must_make_sense(told)
                self.tell(told)
            left = sum(chunk.records for chunk in self._chunks(versions.table(DeltaTable(path)), archived))
        self._must_make_sense(told, at_the_end=True)
        seed(self.shape)
        return told

    @property
    def _abreast(self) -> int:
        return min(ABREAST, at_once(self.spark))

    def _chunks(self, archive: Table, after: int) -> Iterator[Chunk]:
        return self.scope.chunks(self.shape.source.name, archive.path, archive.version, after, self.size)

    def _query(self) -> str:
        """Always the same for a release and its source: whoever continues this replay is the same query."""
        name = f"{self.shape.layout.root}/{self.shape.release}/{self.shape.source.name}"
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name))

    def _ahead(self, archive: Table, planned: Iterator[Chunk]) -> Iterator[tuple[Chunk, Shaped | None]]:
        """Others shape some epochs, one on each core, while the one before them is judged and written."""
        waiting = deque[tuple[Chunk, Future[Shaped | None]]]()
        with ThreadPoolExecutor(self._abreast, "shape") as several:
            for chunk in planned:
                waiting.append((chunk, several.submit(self._shaped, archive, chunk)))
                if len(waiting) > self._abreast:
                    first, made = waiting.popleft()
                    yield first, made.result()
            yield from ((first, made.result()) for first, made in waiting)

    def _shaped(self, archive: Table, chunk: Chunk) -> Shaped | None:
        """None where the records are not shaped anew."""
        return bronze.shaped(self.spark, self.shape, archive, chunk) if chunk.anew else None

    def _judged(self, archive: Table, planned: Iterator[Chunk], after: int, files: Files) -> Iterator[Judged]:
        """Each chunk in turn: judged here, after all before it, and on its way to be files."""
        source, seen = self.shape.source, self.shape.seen
        beside = self.scope.beside(self.shape.layout, source)
        for number, (chunk, shaped) in enumerate(self._ahead(archive, planned), after + 1):
            if shaped is None:
                rows = self.scope.taken(self.shape.layout, source, archive.version, chunk, number)
                written = Here(rows).made(files.of)
            else:
                found = repeats(shaped.judging, seen)
                rows = judged(shaped.judging, found)
                written = shaped.made(partial(_files, found, silver.schema(source), number, beside, files))
            counts = balanced(rows, chunk.records, source)
            seen.remember_facts(rows)
            yield Judged(number, chunk.last, counts, written)

    def _must_make_sense(self, told: Told, at_the_end: bool = False) -> None:
        if told.counts.get(silver.FACT) or not self.facts_expected or not told.done:
            return
        if at_the_end or told.done >= ENOUGH_RECORDS:
            raise Refused(
                f"The code makes no fact of the first {told.done:,} records of {told.source}, and the current release "
                "has facts of it. The replay stopped; readers saw nothing of it. Correct the code and replay it, or "
                "drop this release."
            )


def _behind(epochs: Iterator[Judged], most: int) -> Iterator[Judged]:
    """The same in turn, so many later: their files are made meanwhile."""
    waiting = deque[Judged]()
    for epoch in epochs:
        waiting.append(epoch)
        if len(waiting) > most:
            yield waiting.popleft()
    yield from waiting


def _files(
    found: Repeats, columns: pa.Schema, number: int, beside: str, files: Files, shaped: pa.Table
) -> list[Written]:
    return files.of(as_known(rows_of(judged(shaped, found), columns, number), beside))


def stand(table: str, query: str) -> tuple[str, int, int]:
    """The query, its last epoch here and the last epoch of the archive that is in it; -1 before the first."""
    last = next((note for note in notes(DeltaTable(table)) if note["query"] == query), None)
    if last is None:
        return query, -1, -1
    if "archived" not in last:
        raise Refused(f"{table} is kept up by its stream since its replay: there is nothing left to replay.")
    return query, int(last["epoch"]), int(last["archived"])


def seed(shape: Shape) -> None:
    """Leaves the stream of this release a checkpoint that goes on exactly where the batch ended."""
    written = book(shape.place.table)
    if written is not None and (not place(shape.place.checkpoint).there() or examine(shape.place)):
        rewrite(shape.place, written, done=True)
