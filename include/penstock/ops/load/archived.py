"""Bronze of many page views, as if streams had archived them for days: a log takes minutes for each million."""

import time
import uuid
from datetime import UTC, datetime

import pyarrow as pa

from penstock.engine.archive import BRONZE, INDEXED
from penstock.engine.commit import Tables
from penstock.lake.layout import Layout
from penstock.ops.rig import TOPIC, page_view

DAYS = 10
# As archives write them where there is a backlog, and records of one key in one partition.
EPOCH_RECORDS, PARTITIONS = 100_000, 4


def archived(layout: Layout, records: int) -> None:
    """So many records, which arrived one after the other until now."""
    table = Tables().of(layout.bronze(TOPIC), BRONZE, INDEXED)
    query, end = str(uuid.uuid4()), int(time.time() * 1000)
    step = DAYS * 86_400_000 / records
    for epoch, first in enumerate(range(0, records, EPOCH_RECORDS)):
        numbers = range(first, min(first + EPOCH_RECORDS, records))
        rows = [_record(number, epoch, end - int((records - number) * step)) for number in numbers]
        table.append(pa.Table.from_pylist(rows, BRONZE), query, epoch)


def _record(number: int, epoch: int, at: int) -> dict[str, object]:
    key, value, headers = page_view(number, at)
    arrived = datetime.fromtimestamp(at / 1000, UTC)
    return {
        "key": key.encode(),
        "value": value,
        "headers": [{"key": name, "value": str(told).encode()} for name, told in headers.items()],
        "partition": number % PARTITIONS,
        "offset": number // PARTITIONS,
        "timestamp": arrived,
        "day": arrived.date(),
        "epoch": epoch,
    }
