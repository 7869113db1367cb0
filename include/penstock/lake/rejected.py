"""What was rejected, grouped by reason and by the shape of its JSON: where one repair would help many records."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from penstock.lake.layout import Layout
from penstock.lake.publication import open_table

GROUPED = """
with told as (
    select reason, logged_at, partition, "offset", raw,
        coalesce(try(decode(raw)), raw::varchar) as text,
        json_structure(try_cast(try(decode(raw)) as json))::varchar as shape
    from silver where disposition = 'rejected' and ($reason = '' or reason = $reason)
)
select reason,
    coalesce(shape, case when reason = 'erased' then reason when raw is null then 'kept in bronze' else 'no JSON' end)
        as shape,
    count(*)::bigint as records, min(logged_at) as first, max(logged_at) as last,
    list({'at': partition || '/' || "offset", 'raw': text} order by logged_at desc)[:3] as examples
from told group by all order by records desc, reason, shape limit $most
"""


@dataclass(frozen=True)
class Group:
    """Rejected records that are alike. `examples` are the newest, by position, with what they held."""

    reason: str
    shape: str
    records: int
    first: datetime
    last: datetime
    examples: list[dict[str, Any]]


def groups(layout: Layout, release: str, source: str, reason: str = "", most: int = 20) -> list[Group]:
    """The largest groups first; of one reason, or of all."""
    table = open_table(layout.silver(release, source))
    if table is None:
        return []
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("silver", table.to_pyarrow_dataset())
        rows = memory.sql(GROUPED, params={"reason": reason, "most": most}).to_arrow_table().to_pylist()
    return [Group(**row) for row in rows]
