"""Which records a replay shapes anew; all others are taken over, row by row, from the release that it began from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from operator import or_

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from penstock.engine import silver
from penstock.lake.layout import Layout
from penstock.lake.local import answer
from penstock.lake.publication import column_names, open_table
from penstock.lake.releases import Refused, Registry
from penstock.model.domain import known_to
from penstock.model.source import Source

# The archive's epochs with the day on which their first record arrived.
EPOCHS = """
select epoch, count(*)::bigint as records, min(day) as day from bronze where epoch > $after
group by epoch order by epoch
"""
ENDS = """
select partition, min("offset") as offset_min, max("offset") as offset_max from bronze
where epoch > $after and epoch <= $last group by partition
"""
KNOWN = """
select near.known from made left join near on made.partition = near.partition and made."offset" = near."offset"
order by made.place
"""
POSITION = ["partition", "offset"]


@dataclass(frozen=True)
class Chunk:
    """The epochs of the archive after `after`, up to `last`, which become one epoch of the release."""

    after: int
    last: int
    records: int
    anew: bool = True


@dataclass(frozen=True)
class Scope:
    """By default everything. `sources`: only these; `first` and `last`: only what arrived on these days."""

    base: str = ""
    sources: frozenset[str] = frozenset()
    first: date = date.min
    last: date = date.max

    def anew(self, source: str, day: date) -> bool:
        return self.first <= day <= self.last and (not self.sources or source in self.sources)

    def chunks(self, source: str, bronze: str, version: int, after: int, size: int) -> Iterator[Chunk]:
        """The archive's epochs after one, put together until they have about `size` records of one kind."""
        first, count, kind = after, 0, True
        last = after
        for epoch, records, day in _epochs(bronze, version, after):
            anew = self.anew(source, day)
            if count and (count >= size or anew is not kind):
                yield Chunk(first, last, count, kind)
                first, count = last, 0
            last, count, kind = epoch, count + records, anew
        if count:
            yield Chunk(first, last, count, kind)

    def taken(self, layout: Layout, source: Source, version: int, chunk: Chunk, number: int) -> pa.Table:
        """What the release that this one began from says of a chunk's records."""
        path = layout.silver(self.base, source.name)
        base = open_table(path)
        if base is None or pa.schema(base.schema().to_arrow()).names != silver.schema(source).names:
            raise Refused(
                f"The code gives {source.name} other columns than {self.base} has, so nothing can be taken over from "
                "it. Replay the whole source."
            )
        with duckdb.connect() as memory:
            memory.register("bronze", DeltaTable(layout.bronze(source.name), version=version).to_pyarrow_dataset())
            ends = memory.sql(ENDS, params={"after": chunk.after, "last": chunk.last}).to_arrow_table()
        rows = _near(base, silver.schema(source).names, ends)
        rows = rows.set_column(rows.column_names.index("epoch"), "epoch", pa.repeat(number, rows.num_rows))
        rows = rows.cast(silver.schema(source))
        if rows.num_rows != chunk.records:
            raise Refused(
                f"{self.base} has {rows.num_rows:,} of {chunk.records:,} records of {source.name} that are taken over "
                "from it. Wait until its stream has caught up, then clear the task: the replay goes on."
            )
        return rows

    def beside(self, layout: Layout, source: Source) -> str:
        """The silver that says how far others were read when the base judged a record; empty where no view asks."""
        path = layout.silver(self.base, source.name)
        base = open_table(path) if self.base and known_to(source) else None
        return path if base is not None and "known" in column_names(base) else ""


def as_known(rows: pa.Table, beside: str) -> pa.Table:
    """Rows of silver with what was known when another release judged the same records.

    Those that it has not got are joined by the log's own time: docs/decisions/0091.
    """
    base = open_table(beside) if beside else None
    if base is None:
        return rows
    made = rows.select(POSITION).append_column("place", pa.array(np.arange(rows.num_rows)))
    ends = made.group_by("partition").aggregate([("offset", "min"), ("offset", "max")])
    told = answer(KNOWN, made=made, near=_near(base, [*POSITION, "known"], ends))
    return rows.set_column(rows.column_names.index("known"), "known", told["known"])


def _near(base: DeltaTable, columns: Sequence[str], ends: pa.Table) -> pa.Table:
    """Rows of a release's silver from the first to the last offset of each partition. A file that has none of them is
    not opened: else each epoch of a replay would read a column of all."""
    part, offset = map(pc.field, POSITION)
    within = [
        (part == each["partition"]) & (offset >= each["offset_min"]) & (offset <= each["offset_max"])
        for each in ends.to_pylist()
    ]
    return base.to_pyarrow_dataset().to_table(list(columns), filter=reduce(or_, within))


def _epochs(bronze: str, version: int, after: int) -> list[tuple[int, int, date]]:
    with duckdb.connect() as memory:
        memory.register("bronze", DeltaTable(bronze, version=version).to_pyarrow_dataset())
        return memory.execute(EPOCHS, {"after": after}).fetchall()


def scope_of(now: Registry, release: str) -> Scope:
    """What was asked when the release was begun, as the registry has it."""
    begun = next(row for row in now.rows if row.about == release)
    return Scope(
        begun.release,
        frozenset(name for name in begun.sources.split(",") if name),
        date.fromisoformat(begun.first) if begun.first else date.min,
        date.fromisoformat(begun.last) if begun.last else date.max,
    )
