"""Has the suites of bronze and silver judge what one hour's records are and became, and records the verdicts.

    python spark_jobs/check_ingest.py --hour 2026-11-18T09

Exit status: 0 every source passed, or had no records; 2 the request cannot be done; 3 a critical expectation failed;
else it crashed. It changes nothing but `control/gates`, so it may be repeated.
"""

import argparse
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine.envelope import shown
from penstock.engine.gate import recorded
from penstock.engine.lineage import Touched, told
from penstock.lake.layout import Layout
from penstock.lake.names import bronze_of
from penstock.lake.publication import open_table
from penstock.lake.releases import current
from penstock.lake.session import open_session
from penstock.model.domain import domains
from penstock.settings import Settings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hour", type=hour, required=True, help="the UTC hour in which records came, YYYY-MM-DDTHH")
    began, settings = parser.parse_args().hour, Settings.from_env()
    return told(settings, "check_ingest", partial(checks, settings, began))


def checks(settings: Settings, began: datetime, touched: Touched) -> int:
    layout = Layout(settings.lake)
    spark = open_session(settings, "check_ingest", short=True)
    passed = [
        verdict
        for domain in domains().values()
        for source in domain.sources
        for verdict in checked(spark, layout, current(layout, domain.name), source.name, began, touched)
    ]
    return 0 if all(passed) else 3


def checked(
    spark: SparkSession, layout: Layout, release: str, source: str, began: datetime, touched: Touched
) -> Iterator[bool]:
    """Whether the source's records of the hour passed, and what became of them."""
    bronze, silver = layout.bronze(source), layout.silver(release, source)
    touched.reads(bronze, silver)
    if open_table(bronze) is not None:
        of_day = spark.read.format("delta").load(bronze).where(F.col("day") == began.date())
        records = of_hour(shown(of_day), began)
        if not records.isEmpty():
            yield recorded(layout, release, lambda *_: bronze)(records, bronze_of(source)).passed
    if open_table(silver) is not None:
        dispositions = of_hour(spark.read.format("delta").load(silver), began)
        if not dispositions.isEmpty():
            yield recorded(layout, release, layout.silver)(dispositions, source).passed


def of_hour(rows: DataFrame, began: datetime) -> DataFrame:
    """Those that the log took within the hour."""
    return rows.where((F.col("logged_at") >= began) & (F.col("logged_at") < began + timedelta(hours=1)))


def hour(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H").replace(tzinfo=UTC)


if __name__ == "__main__":
    sys.exit(main())
