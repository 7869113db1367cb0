"""Takes what an erasure left behind in old files: of views everything but their present, of silver the rows themselves.

Views of the past are built again when somebody goes back to it. Silver of the past is what they are built from, so the
files that restore points need stay, with the same name and length, and those rows of theirs say nothing any more.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from penstock.engine import silver
from penstock.engine.pinning import releases, view_tables
from penstock.lake.erasures import ERASED
from penstock.lake.files import file_list
from penstock.lake.layout import Layout
from penstock.lake.place import Place, place, rows, write_parquet
from penstock.lake.publication import cut_of, open_table
from penstock.lake.restore_points import pinned, points
from penstock.model.domain import domains, source, view
from penstock.model.view import source_of

FOOTER = 8
LEVELS = (3, 19)
# A broken file that was put beside its table: engine/mending.py.
DAMAGED = "_damaged-"


def purge(layout: Layout, domain: str, named: Mapping[str, pa.Table]) -> None:
    """Every release's tables of a domain. `named`: by source, the positions of records that were erased."""
    kept = points(layout)
    for release in releases(layout, domains()[domain]):
        for each in domains()[domain].sources:
            speed, gold = view_tables(layout, release, each)
            for path in speed:
                _past_the_cut(layout, release, path)
            for path in (*speed, *gold):
                vacuumed(path)
            path = layout.silver(release, each.name)
            if each.name in named and open_table(path):
                spared = pinned(layout, kept, path)
                vacuumed(path, spared)
                redacted(path, spared, named[each.name], each.name)
        _unknown(layout, release, domain)


def _past_the_cut(layout: Layout, release: str, path: str) -> None:
    """Partials that gold has taken over; readers look at none of them."""
    table, name = open_table(path), path.rpartition("/")[2]
    if table is not None:
        table.delete(f"epoch <= {cut_of(layout, release, name, source_of(view(name)).name)}")


def vacuumed(path: str, spared: Iterable[int] = ()) -> None:
    """Every file but those of the present and of spared versions; also what crashes left. Nobody writes meanwhile."""
    table = open_table(path)
    if table is None:
        return
    keep = list(spared) or None
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False, full=True, keep_versions=keep)
    for name in _damaged(place(path)):
        place(path).forget(name)


def _damaged(folder: Place) -> list[str]:
    found = [f"{below.name}/{name}" for below in folder.folders() for name in below.names()]
    return [name for name in (*folder.names(), *found) if name.rpartition("/")[2].startswith(DAMAGED)]


def _unknown(layout: Layout, release: str, domain: str) -> None:
    """Candidates that a gate refused, and views that only a release's own code knows: a replay makes them again."""
    known = {each.name for each in domains()[domain].views}
    for kind in ("gold", "speed", "candidate"):
        folder = place(f"{layout.root}/{kind}/{release}")
        for name in folder.names():
            if name.startswith(f"{domain}.") and (kind == "candidate" or name not in known):
                folder.below(name).remove()


def redacted(path: str, versions: Iterable[int], named: pa.Table, of: str) -> None:
    """Rewrites files of old versions in place: what reads them by their name, length and row count still can."""
    present = {file.uri for file in file_list(DeltaTable(path))}
    old = {file.uri for version in versions for file in file_list(DeltaTable(path, version=version))} - present
    for uri in sorted(old):
        folder, _, name = uri.rpartition("/")
        size = place(folder).length(name)
        if size is None:
            continue
        found = rows(uri)
        theirs = np.isin(_positions(found), _positions(named))
        if theirs.any() and pc.any(pc.not_equal(_reasons(found.filter(theirs)), ERASED)).as_py():
            _replace(place(folder), name, said_nothing(found, theirs, of), size)


def _reasons(found: pa.Table) -> Any:
    return found["reason"].fill_null("")


def _positions(found: pa.Table) -> Any:
    part, offset = (found[name].to_numpy().astype(np.int64) for name in ("partition", "offset"))
    return (part << 48) | offset


def said_nothing(found: pa.Table, theirs: Any, of: str) -> pa.Table:
    """The rows as an erasure leaves them; only the day stays what the folder says."""
    kept = pa.array(np.arange(found.num_rows), mask=theirs)
    gone = silver.forgotten(source(of))
    said = {"disposition": silver.REJECTED, "reason": ERASED}
    mask = pa.array(theirs)
    columns = [
        found[name].take(kept) if name in gone
        else pc.if_else(mask, said[name], found[name]) if name in said
        else found[name]
        for name in found.column_names
    ]  # fmt: skip
    return pa.table(columns, names=found.column_names)


def _replace(folder: Place, name: str, found: pa.Table, size: int) -> None:
    """The same length: Delta knows it, and readers find the footer by it. What no effort makes fit is deleted."""
    for level in LEVELS:
        content = written(found, level)
        if len(content) <= size:
            folder.write(f"{name}.new", stretched(content, size))
            folder.rename(f"{name}.new", name)
            return
    # A point that needs it is refused with the file's name.
    folder.forget(name)


def written(found: pa.Table, level: int) -> bytes:
    buffer = pa.BufferOutputStream()
    write_parquet(
        found, buffer, compression="zstd", compression_level=level, write_statistics=False, store_schema=False
    )
    return bytes(buffer.getvalue())


def stretched(content: bytes, size: int) -> bytes:
    """A Parquet file with nothing between its pages and its footer, which nothing refers to by its place."""
    footer = len(content) - FOOTER - int.from_bytes(content[-FOOTER : -FOOTER + 4], "little")
    return content[:footer] + bytes(size - len(content)) + content[footer:]
