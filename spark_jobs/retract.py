"""Retracts facts, or takes a retraction back: marks rows of silver and builds the touched days again, gated.

    python spark_jobs/retract.py --source web.events --where "user_agent like 'nonsense%'" --why "a broken client" \\
        --operation retract/1 --who lina

Asked again for the same operation it does what is left. Exit status: 0 published; 2 the request cannot be done; 3 it
was refused, or a gate refused and readers keep the last good numbers; else it crashed, which is always safe.
"""

import argparse
import sys
from functools import partial

from penstock.engine.gate import recorded
from penstock.engine.halting import halted, shapes_of
from penstock.engine.lease import LeaseTaken
from penstock.engine.matching import BadCondition, named
from penstock.engine.publish import Refused
from penstock.engine.retraction import Unconfirmed, retract, settled
from penstock.engine.signing import book, signed, status
from penstock.lake.layout import Layout
from penstock.lake.session import open_session
from penstock.lake.statements import NoSuchStatement
from penstock.model.domain import domains, source
from penstock.settings import Settings


def main() -> int:
    return status(partial(retracted, arguments()), BadCondition, LeaseTaken, Unconfirmed, NoSuchStatement, Refused)


def retracted(asked: argparse.Namespace) -> str:
    settings = Settings.from_env()
    layout, of = Layout(settings.lake), source(asked.source)
    said = named(asked.operation, of, asked.where, asked.first, asked.last, asked.revoke, asked.who, asked.why)
    said = settled(layout, of, said, asked.confirmed == "yes")
    spark = open_session(settings, "retract")
    quiet = partial(halted, settings.home, shapes_of(layout, of))
    built = retract(spark, layout, of, said, partial(recorded, layout), quiet)
    after = {
        "id": said.id,
        "records": said.records,
        "days": list(said.days),
        "views": sorted({one.view for one in built}),
    }
    verb = "revoke" if said.of else "retract"
    before = {"where": said.where, "from": said.first, "to": said.last, "of": said.of}
    book(layout, asked, verb, of.name, before, after)
    return f"{verb} {said.id}: {said.records:,} records on {len(said.days)} days; {len(built)} views published"


def arguments() -> argparse.Namespace:
    parser = signed(__doc__)
    parser.add_argument(
        "--source", required=True, choices=[each.name for one in domains().values() for each in one.sources]
    )
    parser.add_argument("--where", default="", help="a condition on facts; empty with --revoke: all of it")
    parser.add_argument("--from", dest="first", default="", help="a UTC day or a moment of happened_at")
    parser.add_argument("--to", dest="last", default="", help="a day, included, or a moment, excluded")
    parser.add_argument("--revoke", default="", help="the retraction to take back, whole or where the condition holds")
    parser.add_argument(
        "--confirmed", default="no", choices=["yes", "no"], help="also if it is about all facts or none"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
