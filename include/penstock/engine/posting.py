"""Posts to the ledger what commits did to bronze and silver: counts of rows that files added, less those removed.

The counts come from the tables' own commits, never from a counter beside them, and each version is posted once.
"""

from collections.abc import Iterator
from urllib.parse import unquote

import duckdb
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, TableNotFoundError

from penstock.engine.commit import Appender, create
from penstock.lake.layout import Layout
from penstock.lake.ledger import LEDGER
from penstock.lake.place import place
from penstock.lake.versions import actions, log_folder
from penstock.model.source import Source

ARCHIVED = "select date_trunc('hour', timestamp) as hour, 'archived' as stage, null::varchar as reason"
SHAPED = "select date_trunc('hour', logged_at) as hour, disposition as stage, reason"
SUMMED = """
select hour, stage, reason, sum(records)::bigint as records from ({rows})
group by all having sum(records) <> 0
"""


def post(layout: Layout, sources: tuple[Source, ...], release: str) -> int:
    """Brings the ledger up to the newest commits; returns how many versions were posted."""
    create(layout.ledger(), LEDGER, ("hour",))
    posted = 0
    for source in sources:
        posted += _post(layout, layout.bronze(source.name), source.name, None, ARCHIVED)
        posted += _post(layout, layout.silver(release, source.name), source.name, release, SHAPED)
    return posted


def _post(layout: Layout, table: str, source: str, release: str | None, sql: str) -> int:
    ledger, app = Appender(layout.ledger()), table.removeprefix(layout.root)
    first, last = ledger.committed(app) + 1, newest(table)
    if last < first:
        return 0
    counts = counted(table, first, last, sql)
    entries = pa.table(
        {
            "source": pa.array([source] * len(counts), pa.string()),
            "release": pa.array([release] * len(counts), pa.string()),
            **{name: counts[name] for name in ("stage", "hour", "reason", "records")},
        },
    ).cast(LEDGER)
    try:
        ledger.follow(entries, app, first - 1, last)
    except CommitFailedError:
        if ledger.committed(app) < first:
            raise
        # Somebody else posted at the same time and was first: what he left is ours.
        return _post(layout, table, source, release, sql)
    return last - first + 1


def newest(table: str) -> int:
    """The table's last version; -1 where there is no table yet."""
    try:
        return int(DeltaTable(table).version())
    except TableNotFoundError:
        return -1


def counted(table: str, first: int, last: int, sql: str) -> pa.Table:
    """Rows by hour, stage and reason that the versions added, less those that they removed."""
    moved = [action for version in range(first, last + 1) for action in changes(table, version)]
    if not moved:
        return NOTHING
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        parts = [
            _of_files(memory, table, name, [path for action, path in moved if action == name], f"{sql}, {count}")
            for name, count in (("add", "count(*)"), ("remove", "-count(*)"))
        ]
        rows = " union all ".join(part for part in parts if part)
        return memory.sql(SUMMED.format(rows=rows)).to_arrow_table()


NOTHING = pa.table({name: pa.array([], LEDGER.field(name).type) for name in ("hour", "stage", "reason", "records")})


def _of_files(memory: duckdb.DuckDBPyConnection, table: str, name: str, files: list[str], sql: str) -> str:
    if not files:
        return ""
    memory.register(f"files_{name}", place(table).dataset(files))
    return f"{sql} as records from files_{name} group by all"


def changes(table: str, version: int) -> Iterator[tuple[str, str]]:
    """Files that a version added to the data or removed from it. Compaction does neither."""
    for action in actions(log_folder(table), version):
        for name in ("add", "remove"):
            if name in action and action[name]["dataChange"]:
                yield name, unquote(action[name]["path"])
