"""Finds what was dropped or damaged in the lake, without a JVM: tables, files, rows, checkpoints; and what mends it."""

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from penstock.engine import markers
from penstock.engine.arrived import asked
from penstock.engine.checkpoints import examine, places
from penstock.engine.gaps import Hole, unbooked
from penstock.engine.pinning import named, view_tables
from penstock.lake.files import size_of
from penstock.lake.layout import Layout
from penstock.lake.place import Place, checked, place
from penstock.lake.publication import cut_of, open_table
from penstock.lake.releases import kept
from penstock.lake.restore_points import points
from penstock.model.bucket import widths
from penstock.model.domain import domains, views_of
from penstock.model.source import Source
from penstock.model.view import Tally

# Measured on two cores: silver by a replay, views by a build (docs/decisions/0087).
RECORDS_PER_SECOND = 40_000

HOLES = """
select partition, "offset" + 1 as first, next from (
    select partition, "offset", lead("offset") over (partition by partition order by "offset") as next from rows
) where next > "offset" + 1 order by all
"""
LACKING = """
select count(*)::bigint from bronze b anti join silver s on b.partition = s.partition and b."offset" = s."offset"
join (select partition, max("offset") as last from silver group by all) ends on ends.partition = b.partition
where b."offset" <= ends.last
"""


@dataclass(frozen=True)
class Damage:
    """What is wrong with one table of the lake, what it costs to rebuild, and the command that does."""

    table: str
    told: str
    cost: str
    mend: str

    def __str__(self) -> str:
        return f"{self.table} {self.told}; {self.cost}; mend: {self.mend}"


def damages(layout: Layout, kafka: str, deep: bool = False) -> Iterator[Damage]:
    """Everything that is wrong, raw records first: the rest is rebuilt from them. `deep` reads all rows.

    The log at `kafka` is asked about offsets that bronze lacks.
    """
    for domain in domains().values():
        for source in domain.sources:
            yield from _of_bronze(layout, kafka, source, deep)
            for release in kept(layout, domain.name):
                yield from _of_silver(layout, release, source, deep)
                yield from _of_views(layout, release, source, deep)
                yield from _of_checkpoints(layout, release, source)


def _of_checkpoints(layout: Layout, release: str, source: Source) -> Iterator[Damage]:
    for kept_at in places(layout, source.name, release):
        # A table that cannot be read says nothing of its checkpoint.
        if not broken(kept_at.table, False) and (wrong := examine(kept_at)):
            mend = f"penstock checkpoints rebuild --release {release}"
            yield Damage(named(layout, kept_at.checkpoint), wrong.partition(":")[0], "seconds", mend)


def _of_bronze(layout: Layout, kafka: str, source: Source, deep: bool) -> Iterator[Damage]:
    path = layout.bronze(source.name)
    if open_table(path) is None:
        return
    name = named(layout, path)
    wrong = broken(path, deep)
    holes = [] if wrong else losses(layout, kafka, source.name)
    lost = ", ".join(f"partition {part} offsets {first:,} to {end - 1:,}" for part, first, end in holes[:5])
    told = f"has {len(wrong)} files that cannot be read" if wrong else f"lacks {lost}" if holes else ""
    if told:
        yield Damage(name, told, "as long as the log takes to be read", f"penstock rebuild {name} --why …")


def _of_silver(layout: Layout, release: str, source: Source, deep: bool) -> Iterator[Damage]:
    path, bronze = layout.silver(release, source.name), layout.bronze(source.name)
    told, records = "", size_of(bronze)[0]
    if _is_empty(path):
        told = ("is gone" if open_table(path) is None else "is empty") if written(layout, release, source) else ""
    elif wrong := broken(path, deep):
        told = f"has {len(wrong)} files that cannot be read"
    elif open_table(bronze) and not broken(bronze, False) and (rows := lacking(bronze, path)):
        told = f"lacks {rows:,} records that bronze has"
    if told:
        name = named(layout, path)
        seconds = max(20, records // RECORDS_PER_SECOND)
        yield Damage(name, told, f"{records:,} records, about {seconds} s", f"penstock rebuild {name} --why …")


def _of_views(layout: Layout, release: str, source: Source, deep: bool) -> Iterator[Damage]:
    known = points(layout)[:1]
    tallies = {layout.gold(release, view.name): view for view in views_of(source) if isinstance(view, Tally)}
    for path in [path for paths in view_tables(layout, release, source) for path in paths]:
        name = named(layout, path)
        if open_table(path) is None:
            told = "is gone" if known and name in known[0].tables else ""
        else:
            told = _of_view(path, deep, tallies.get(path))
        if told:
            yield Damage(name, told, "one build of the view", f"penstock rebuild {name} --why …")


def _of_view(path: str, deep: bool, tally: Tally | None) -> str:
    if wrong := broken(path, deep):
        return f"has {len(wrong)} files that cannot be read"
    if deep and tally and (rows := misplaced(path, tally)):
        return f"has {rows:,} rows in files of another day or width"
    return ""


def written(layout: Layout, release: str, source: Source) -> bool:
    """Whether a release of a source was ever shaped: what was made of it says so, or a restore point does."""
    views = views_of(source)
    built = any(cut_of(layout, release, view.name, source.name) >= 0 for view in views)
    # A source that rests is pinned as well: its stream has no place yet, or had an epoch of nothing.
    silver = named(layout, layout.silver(release, source.name))
    known = any(any(point.streams[silver].offsets.values()) for point in points(layout)[:1] if silver in point.streams)
    return built or known or any(size_of(layout.speed(release, view.name))[0] for view in views)


def _is_empty(path: str) -> bool:
    """Whether a table has no row: it is not there, or a rebuild had only made it when it was killed."""
    return size_of(path)[0] == 0


class Gone(RuntimeError):
    """A table was deleted that cannot be written on as if it had never been. Nothing was changed."""


def refuse_gone(layout: Layout, release: str, source: Source) -> None:
    """Stops a stream whose silver was deleted: with an empty one it would begin again below the cuts of its views."""
    path = layout.silver(release, source.name)
    if _is_empty(path) and written(layout, release, source):
        name = named(layout, path)
        raise Gone(f"{name} is gone. Records wait in the log and in bronze: `penstock rebuild {name} --why …`.")


def broken(path: str, deep: bool) -> list[str]:
    """Files of a table that are not there, have another size, or cannot be read; by their paths in the log."""
    table = open_table(path)
    if table is None:
        return []
    folder = place(path)
    files = pa.table(table.get_add_actions(flatten=True)).select(["path", "size_bytes"]).to_pylist()
    return [one["path"] for one in files if not sound(folder, one["path"], one["size_bytes"], deep)]


def sound(folder: Place, name: str, size: int, deep: bool) -> bool:
    """Whether a file is what the log says. `deep`: every page is read, which is what finds a flipped bit."""
    if folder.length(name) != size:
        return False
    try:
        with folder.open(name) as file:
            checked(file).read() if deep else pq.read_metadata(file)
        return True
    except (pa.ArrowException, OSError):
        return False


def misplaced(path: str, tally: Tally) -> int:
    """Rows of gold whose bucket is none of the day and the width that their file is of."""
    moment = "make_timestamp(epoch_us(bucket))"
    unlike = [f"width = '{width.name}' and {width.duckdb(moment)} <> {moment}" for width in widths(tally.every)]
    where = " or ".join([f"{moment}::date <> day", *unlike])
    return int(asked(DeltaTable(path), f"select count(*) from rows where {where}")[0][0])  # noqa: S608 - our own names


def losses(layout: Layout, kafka: str, source: str) -> list[Hole]:
    """What bronze lacks between two of its records, was one itself, and was given up by nobody."""
    return markers.lost(layout, kafka, source, unbooked(layout.ledger(), source, holes_of(layout.bronze(source))))


def holes_of(bronze: str) -> list[Hole]:
    return [(int(part), int(first), int(end)) for part, first, end in asked(DeltaTable(bronze), HOLES)]


def lacking(bronze: str, silver: str) -> int:
    """Records that bronze has, silver lacks, and its stream has passed."""
    with duckdb.connect() as memory:
        for name, path in (("bronze", bronze), ("silver", silver)):
            memory.register(name, DeltaTable(path).to_pyarrow_dataset())
        return int(memory.execute(LACKING).fetchall()[0][0])
