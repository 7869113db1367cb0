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
from penstock.engine.lineage import kept_up
from penstock.engine.mending import Lost, rebuild
from penstock.engine.publish import Refused
from penstock.engine.signing import book, operated, signed
from penstock.lake.layout import Layout
from penstock.lake.session import open_session
from penstock.log.schemas import Schemas
from penstock.model.domain import UnknownName, domains
from penstock.settings import Settings


def main() -> int:
    parser = signed(__doc__)
    parser.add_argument("--table", required=True, help="its path below the lake's root, as `penstock doctor` says it")
    asked = parser.parse_args()
    return operated(
        "rebuild", partial(tables, asked.table), partial(rebuilt, asked), Lost, LeaseTaken, Refused, UnknownName
    )


def tables(wanted: str, layout: Layout) -> list[str]:
    """The table itself, which may be bronze, and what is made of it."""
    domain = wanted.rpartition("/")[2].partition(".")[0]
    return [f"{layout.root}/{wanted}", *(kept_up(layout, [domain]) if domain in domains() else ())]


def rebuilt(asked: argparse.Namespace) -> str:
    settings = Settings.from_env()
    layout, schemas = Layout(settings.lake), Schemas(settings.kafka)
    spark = open_session(settings, "rebuild")
    told = rebuild(spark, settings, asked.table, asked.operation, schemas.of_source, partial(recorded, layout))
    book(layout, asked, "rebuild", asked.table, {}, {"told": told})
    return told


if __name__ == "__main__":
    sys.exit(main())
