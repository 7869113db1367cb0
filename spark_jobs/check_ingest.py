"""Has the suites of silver judge the dispositions of one hour, and records the verdicts.

    python spark_jobs/check_ingest.py --hour 2026-11-18T09

Exit status: 0 every source passed, or had no records; 2 the request cannot be done; 3 a critical expectation failed;
else it crashed. It changes nothing but `control/gates`, so it may be repeated.
"""

import argparse
import sys
from datetime import UTC, datetime, timedelta

from pyspark.sql import functions as F

from penstock.engine.gate import recorded
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import current
from penstock.lake.session import open_session
from penstock.model.domain import domains
from penstock.settings import Settings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hour", type=hour, required=True, help="the UTC hour in which records came, YYYY-MM-DDTHH")
    began = parser.parse_args().hour
    settings = Settings.from_env()
    layout = Layout(settings.lake)
    spark = open_session(settings, "check_ingest", short=True)
    refused = 0
    for domain in domains().values():
        release = current(layout, domain.name)
        gate = recorded(layout, release, layout.silver)
        for source in domain.sources:
            path = layout.silver(release, source.name)
            if open_table(path) is None:
                continue
            logged = (F.col("logged_at") >= began) & (F.col("logged_at") < began + timedelta(hours=1))
            dispositions = spark.read.format("delta").load(path).where(logged)
            if not dispositions.isEmpty():
                refused += not gate(dispositions, source.name).passed
    return 3 if refused else 0


def hour(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H").replace(tzinfo=UTC)


if __name__ == "__main__":
    sys.exit(main())
