"""Sets the books right after a table was rebuilt: what it holds, less what is booked, in one entry a line.

Posting counts the files that commits add and remove. Of a table that was made anew, or lost files that nobody can read
any more, no commit tells; so it is counted as a whole once, and posting goes on after its newest version.
"""

import duckdb
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from penstock.engine.commit import create
from penstock.engine.posting import ARCHIVED, SHAPED
from penstock.lake.layout import Layout
from penstock.lake.ledger import LEDGER

DIFFERENCE = """
select $source as source, $release as release, stage, hour, reason, sum(records)::bigint as records from (
    {counted}, count(*) as records from rows group by all
    union all
    select hour, stage, reason, -records from ledger
    where source = $source and release is not distinct from $release and stage <> 'lost'
) group by all having sum(records) <> 0
"""


def rebooked(layout: Layout, source: str, release: str | None = None) -> int:
    """Bronze where no release is named, else that release's silver. Returns how many lines differed."""
    path = layout.silver(release, source) if release else layout.bronze(source)
    create(layout.ledger(), LEDGER, ("hour",))
    table, ledger = DeltaTable(path), DeltaTable(layout.ledger())
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("rows", table.to_pyarrow_dataset())
        memory.register("ledger", ledger.to_pyarrow_dataset())
        sql = DIFFERENCE.format(counted=SHAPED if release else ARCHIVED)
        lines = memory.sql(sql, params={"source": source, "release": release}).to_arrow_table().cast(LEDGER)
    posted = Transaction(path.removeprefix(layout.root), table.version())
    write_deltalake(ledger, lines, mode="append", commit_properties=CommitProperties(app_transactions=[posted]))
    return int(lines.num_rows)
