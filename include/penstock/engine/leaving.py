"""Who is erased leaves the rollups that cannot be made again: rows that are kept by their name go, counts stay.

It is done while their keys are there, for by then nobody can tell their names any more.
"""

from collections.abc import Collection
from datetime import date
from functools import reduce
from operator import or_

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake

from penstock.engine.lease import builds
from penstock.keys.store import Keys
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table, said_again
from penstock.lake.retention import kept_until
from penstock.lake.tablelog import NO_HOOKS
from penstock.model.domain import views_of
from penstock.model.retention import named_by
from penstock.model.source import Source

NAMES = "select distinct cast(unnest([{columns}]) as varchar) from rows where day <= $day"


def leave(layout: Layout, release: str, source: Source, keys: Keys, tokens: Collection[bytes]) -> None:
    """Of each view whose rows have names, one commit. No name is written into a table's log."""
    until = kept_until(layout, release, source.name)
    if until is None:
        return
    for view in views_of(source):
        table, columns = open_table(layout.gold(release, view.name)), named_by(view, source)
        if table is None or not columns:
            continue
        with duckdb.connect() as memory:
            memory.register("rows", table.to_pyarrow_dataset())
            asked = NAMES.format(columns=", ".join(f'"{name}"' for name in columns))
            names = [name for (name,) in memory.execute(asked, {"day": until}).fetchall() if name]
        found = keys.tokens(source.domain, names)
        if theirs := [name for name, token in found.items() if token in tokens]:
            with builds(layout.root, release, source.name):
                _without(DeltaTable(table.table_uri), theirs, columns, until)


def _without(table: DeltaTable, names: list[str], columns: list[str], until: date) -> None:
    rows = table.to_pyarrow_dataset()
    # Later days are built without them.
    old = pc.field("day") <= pa.scalar(until)
    theirs = old & reduce(or_, (pc.field(column).cast(pa.string()).isin(names) for column in columns))
    days = sorted(set(rows.to_table(["day"], filter=theirs)["day"].to_pylist()))
    write_deltalake(
        table,
        rows.scanner(filter=~theirs & pc.field("day").isin(days)).to_reader(),
        mode="overwrite",
        predicate=f"day in ({', '.join(repr(str(day)) for day in days)})",
        commit_properties=said_again(table),
        post_commithook_properties=NO_HOOKS,
    )
