"""Which facts were seen before: by event id, the first one wins.

The ids of the last day live in sorted runs of 64-bit hashes, rebuilt from silver when a stream starts: a cache,
never the truth. Sixteen bytes an id; why this and not a filter or a table is in docs/decisions/0041.
"""

import tempfile
from dataclasses import dataclass, field
from functools import cache
from typing import cast

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine import silver

Hashes = npt.NDArray[np.uint64]
Marks = npt.NDArray[np.bool_]

# How long an id is remembered, by the log's own time. Closing a day is exact over all history.
REMEMBERED_SECONDS = 24 * 3600
# Runs grow by merging until they hold about an hour at 1,000 a second; then they can only be forgotten.
FULL_RUN = 4_000_000


@dataclass(frozen=True)
class Run:
    """Ids in order, the content that each came with, and when the last of them arrived."""

    ids: Hashes
    contents: Hashes
    latest: float

    def find(self, wanted: Hashes) -> tuple[Marks, Hashes]:
        """Where a wanted id is in the run, and with which content."""
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return self.ids[at] == wanted, self.contents[at]

    def merged(self, other: "Run") -> "Run":
        ids = np.concatenate([self.ids, other.ids])
        order = np.argsort(ids, kind="stable")
        contents = np.concatenate([self.contents, other.contents])
        latest = max(self.latest, other.latest)
        return Run(ids[order], contents[order], latest).settled()

    def settled(self) -> "Run":
        """A run that will hardly change leaves the heap for the page cache, which the kernel can take back."""
        if len(self.ids) < FULL_RUN // 2:
            return self
        return Run(_mapped(self.ids), _mapped(self.contents), self.latest)


def _in_order(ids: Hashes) -> npt.NDArray[np.intp]:
    """Equal ones as they come: a stable sort takes six times as long, so it is asked only of those that come again."""
    order = np.argsort(ids)
    told = ids[order]
    same = told[1:] == told[:-1]
    again = np.zeros(len(ids), dtype=bool)
    again[1:] |= same
    again[:-1] |= same
    as_they_came = np.sort(order[again])
    order[again] = as_they_came[np.argsort(ids[as_they_came], kind="stable")]
    return order


def _mapped(hashes: Hashes) -> Hashes:
    with tempfile.TemporaryFile() as file:
        hashes.tofile(file)
        return np.memmap(file, hashes.dtype, "r")


def hashes(event_ids: pa.ChunkedArray) -> Hashes:
    """64 bits of each id. DuckDB's hash is only compared with itself, in one process."""
    # A cursor for each call: streams share the engine, and to open one takes longer than an epoch's ids.
    with _engine().cursor() as memory:
        memory.register("ids", pa.table({"id": event_ids}))
        return cast(Hashes, memory.execute("select hash(id) as id from ids").fetchnumpy()["id"])


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1})


def contents(rows: pa.Table) -> Hashes:
    """64 bits of what each record held."""
    return cast(Hashes, rows["content_hash"].to_numpy().view(np.uint64))


@dataclass
class Seen:
    """The facts of the last day, newest run last. A replay remembers for ever."""

    runs: list[Run] = field(default_factory=list)
    seconds: float = REMEMBERED_SECONDS

    def judge(self, ids: Hashes, contents: Hashes) -> tuple[Marks, Marks]:
        """For facts in the log's order: which repeat an earlier fact, and which take its id for other content."""
        order = _in_order(ids)
        wanted, offered = ids[order], contents[order]
        first = np.ones(len(ids), dtype=bool)
        first[1:] = wanted[1:] != wanted[:-1]
        original = offered[np.maximum.accumulate(np.where(first, np.arange(len(ids)), 0))]
        before = np.zeros(len(ids), dtype=bool)
        for run in self.runs:
            found, content = run.find(wanted)
            before |= found
            original = np.where(found, content, original)
        duplicate, collision = np.empty_like(first), np.empty_like(first)
        later = before | ~first
        duplicate[order] = later & (offered == original)
        collision[order] = later & (offered != original)
        return duplicate, collision

    def remember(self, ids: Hashes, contents: Hashes, latest: float) -> None:
        """Adds an epoch's facts, and forgets runs whose last fact is too much older than these."""
        if len(ids) == 0:
            return
        order = _in_order(ids)
        self.runs = [run for run in self.runs if run.latest > latest - self.seconds]
        self.runs.append(Run(ids[order], contents[order], latest).settled())
        while len(self.runs) > 1 and self._should_merge():
            last = self.runs.pop()
            self.runs[-1] = self.runs[-1].merged(last)

    def remember_facts(self, rows: pa.Table) -> None:
        """Adds the facts among an epoch's rows of silver."""
        facts = silver.facts(rows.select(["disposition", "event_id", "content_hash", "logged_at"]))
        if facts.num_rows:
            latest = pc.max(facts["logged_at"]).as_py().timestamp()
            self.remember(hashes(facts["event_id"]), contents(facts), latest)

    def _should_merge(self) -> bool:
        older, newer = len(self.runs[-2].ids), len(self.runs[-1].ids)
        return older < 2 * newer and older + newer <= FULL_RUN
