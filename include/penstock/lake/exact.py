"""How far a silver table is exact over the whole history of ids: `control/exact`, one row a closing.

What came after that epoch was judged by the stream alone, which remembers a day.
"""

from datetime import UTC, datetime

import pyarrow as pa
from deltalake import write_deltalake

from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.rewinds import BEGINNING, rewinds

SCHEMA = pa.schema(
    {
        "source": pa.string(),
        "release": pa.string(),
        "epoch": pa.int64(),
        "at": pa.timestamp("us", "UTC"),
    }
)


def note(layout: Layout, release: str, source: str, epoch: int) -> None:
    row = {"source": source, "release": release, "epoch": epoch, "at": datetime.now(UTC)}
    write_deltalake(layout.control("exact"), pa.Table.from_pylist([row], SCHEMA), mode="append")


def up_to(layout: Layout, release: str, source: str) -> int:
    """The last epoch that was judged so; -1 if none was, or if a rewind brought back what had been judged."""
    table = open_table(layout.control("exact"))
    if table is None:
        return -1
    domain = source.partition(".")[0]
    rewound = max((one.at for one in rewinds(layout) if one.domain == domain), default=BEGINNING)
    rows = table.to_pyarrow_table(filters=[("source", "=", source), ("release", "=", release)]).to_pylist()
    return max((row["epoch"] for row in rows if row["at"] > rewound), default=-1)
