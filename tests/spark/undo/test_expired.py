"""What comes late for an expired day is rejected by the stream, and by who rebuilds silver; rollups outlive both."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from toy_lake import Passed, ToyLake, answers
from toy_log import NOON, ToyLog, said, silver

from penstock.engine.closing import close
from penstock.engine.damage import lacking
from penstock.engine.expiring import Books, expire
from penstock.engine.mending import mend_silver, mend_views
from penstock.lake.retention import EXPIRED
from penstock.model.retention import Retention

DAY = timedelta(days=1)
NIGHT = datetime(2026, 4, 4, 3, tzinfo=UTC)
LATE = {"who": "eve", "what": "look", "amount": 9, "happened_at": NOON.isoformat()}


@pytest.fixture
def expired(spark: SparkSession, lake: ToyLake) -> ToyLog:
    """Facts of three days, of which the first has expired; then one that is late, its copy, and one that is not."""
    log = ToyLog(spark, lake.layout)
    log.take([said("ann", amount=nth, id=f"a{nth}", at=NOON + DAY * nth) for nth in range(3)])
    close(spark, lake.layout, "r1", lake.domain.sources[0], lambda rows, table: Passed())
    for now in (NIGHT, NIGHT + DAY / 2):
        expire(books(lake, now))
    late = {"value": json.dumps(LATE).encode(), "id": "late", "at": NIGHT + DAY}
    log.take([late, late, said("ann", amount=7, id="new", at=NIGHT + DAY)])
    lake.build()
    return log


def books(lake: ToyLake, now: datetime) -> Books:
    return Books(lake.layout, "r1", Retention(lake.domain.sources[0], 31), now)


def told(log: ToyLog) -> list[tuple[str, str]]:
    rows = silver(log, "r1")
    return list(zip(rows["disposition"].to_pylist(), rows["reason"].to_pylist(), strict=True))


def test_a_late_fact_is_rejected_whether_it_is_judged_once_or_again(
    expired: ToyLog, lake: ToyLake, spark: SparkSession
) -> None:
    facts, late = [("fact", None)] * 3, [("rejected", EXPIRED)] * 2
    before, path = answers(lake), lake.layout.silver("r1", "toy.events")
    assert (told(expired), lacking(lake.layout.bronze("toy.events"), path)) == ([*facts, *late, facts[0]], 0)
    assert sum(row["amount"] for row in before["toy.events_by_what"]) == 10

    # Ids of the first day are gone; the next closing compares what is left.
    close(spark, lake.layout, "r1", lake.domain.sources[0], lambda rows, table: Passed())
    shutil.rmtree(path)
    assert expired.shape
    mend_silver(spark, expired.shape, "rebuild/1")
    mend_views(spark, lake.layout, "r1", lake.domain.sources[0], lambda rows, table: Passed())
    assert (told(expired), answers(lake)) == ([*facts, *late, facts[0]], before)

    # What was rebuilt of an emptied day is emptied again.
    expire(books(lake, NIGHT + DAY))
    emptied = [row["day"] for row in DeltaTable(path).to_pyarrow_table().to_pylist() if row["event_id"] is None]
    assert emptied == [NOON.date()]
