"""What a shaping stream asks of its own silver when it starts: silver is its only memory."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from penstock.engine import silver
from penstock.engine.ids import FULL_RUN, REMEMBERED_SECONDS, Seen
from penstock.lake.retractions import REASON

SQL = f"""
-- A copy of what was retracted is no new fact: the original may come back. Of an expired day no id is left.
select hash(event_id) as id, content_hash::bigint as content, epoch(logged_at) as logged
from facts where (disposition = '{silver.FACT}' or reason = '{REASON}') and event_id is not null
  and epoch(logged_at) > (select max(epoch(logged_at)) from facts) - $seconds
"""  # noqa: S608


def remembered(table: str, seconds: float = REMEMBERED_SECONDS) -> Seen:
    """The ids of the last day's facts, by the log's own time; or of more, or of all."""
    seen = Seen(seconds=seconds)
    facts = DeltaTable(table).to_pyarrow_dataset()
    with duckdb.connect() as memory:
        memory.register("facts", facts)
        for batch in memory.sql(SQL, params={"seconds": seconds}).to_arrow_reader(FULL_RUN):
            latest = float(pc.max(batch["logged"]).as_py())
            contents = batch["content"].to_numpy().view(np.uint64)
            seen.remember(batch["id"].to_numpy(), contents, latest)
    return seen


def committed_facts(table: str, epoch: int) -> pa.Table:
    """The facts of one epoch, in silver's own columns."""
    delta = DeltaTable(table)
    rows = delta.to_pyarrow_dataset().to_table(filter=ds.field("epoch") == epoch)
    return silver.facts(rows)
