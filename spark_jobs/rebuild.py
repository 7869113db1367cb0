"""Rebuilds a table of the lake that was dropped or damaged, and what is made of it.

    python spark_jobs/rebuild.py --table silver/r1/web.events --why "a folder was deleted" --operation rebuild/1

Asked again it does what is left. Exit status: 0 whole again; 2 the request cannot be done; 3 refused, or a gate
refused, or records are lost for good and named; else it crashed, which is always safe: start it again.
"""

import argparse
import sys
from functools import partial

from penstock.engine.gate import recorded
from penstock.engine.lease import LeaseTaken
from penstock.engine.mending import Lost, rebuild
from penstock.engine.publish import Refused
from penstock.lake import audit
from penstock.lake.layout import Layout
from penstock.lake.session import open_session
from penstock.log.schemas import Schemas
from penstock.model.domain import UnknownName
from penstock.settings import Settings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True, help="its path below the lake's root, as `penstock doctor` says it")
    for name in ("operation", "who", "why", "approved-by"):
        parser.add_argument(f"--{name}", default="", required=name == "operation")
    asked = parser.parse_args()
    settings = Settings.from_env()
    layout, schemas = Layout(settings.lake), Schemas(settings.kafka)
    spark = open_session(settings, "rebuild")
    try:
        told = rebuild(spark, settings, asked.table, asked.operation, schemas.of_source, partial(recorded, layout))
    except (Lost, LeaseTaken, Refused, UnknownName) as refused:
        print(refused, file=sys.stderr)  # noqa: T201
        return 3
    after = {"told": told}
    audit.record(
        layout, audit.Entry(asked.operation, "rebuild", asked.table, asked.who, asked.why, asked.approved_by, {}, after)
    )
    print(told)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
