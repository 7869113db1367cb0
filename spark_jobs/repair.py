"""Repairs rejected records, or takes a repair back: shapes exactly those again and builds the touched days, gated.

    python spark_jobs/repair.py --source web.events --reason missing_site --rename host=site --why "a renamed field" \\
        --operation repair/1 --dry-run

With `--dry-run` it only says what would happen, also in run/plans of the home. Asked again for the same operation it
does what is left. Exit status: 0 published; 2 the request cannot be done; 3 refused; else it crashed, which is safe.
"""

import argparse
import sys
from functools import partial

from penstock.engine.gate import recorded
from penstock.engine.halting import halted, shapes_of
from penstock.engine.lease import LeaseTaken, ask_to_end, leases_in
from penstock.engine.lineage import kept_up
from penstock.engine.publish import Refused
from penstock.engine.repair import looked, planned, repair, settled
from penstock.engine.shape import Shape
from penstock.engine.signing import book, operated, signed, status
from penstock.lake.correcting import BadRepair, asked, named
from penstock.lake.layout import Layout
from penstock.lake.session import open_session
from penstock.lake.statements import NoSuchStatement
from penstock.log.schemas import Schemas
from penstock.model.domain import UnknownName, source
from penstock.settings import Settings


def main() -> int:
    told = arguments()
    refusals = (BadRepair, LeaseTaken, NoSuchStatement, UnknownName, Refused)
    if told.dry_run:
        return status(partial(repaired, told), *refusals)
    tables = partial(kept_up, names=[told.source.partition(".")[0]])
    return operated("repair", tables, partial(repaired, told), *refusals)


def repaired(told: argparse.Namespace) -> str:
    settings = Settings.from_env()
    layout, schemas = Layout(settings.lake), Schemas(settings.kafka)
    of = source(told.source)
    parts = asked(told.rename, told.cast, told.default)
    said = named(told.operation, of.name, told.reason, *parts, told.revoke, told.who, told.why)

    def shape(release: str) -> Shape:
        return Shape(of, layout, release, partial(schemas.of_source, of.name))

    if told.dry_run:
        text = looked(settings, said)
        planned(settings.home, told.operation).write_text(text)
        return text
    spark = open_session(settings, "repair")
    said = settled(spark, layout, said, shape)
    quiet = partial(halted, settings.home, shapes_of(layout, of))
    rows = repair(spark, layout, said, shape, partial(recorded, layout), quiet)
    # Streams remember ids from silver when they start: what became a fact must be known to them.
    ask_to_end(leases_in(settings.home), shapes_of(layout, of))
    what = {"reason": said.reason, "rename": said.rename, "cast": said.cast, "default": said.default, "of": said.of}
    after = {"id": said.id, "records": said.records, "days": list(said.days)}
    verb = "revoke repair" if said.of else "repair"
    book(layout, told, verb, of.name, what, after)
    return f"{verb} {said.id}: {rows:,} rows on {len(said.days)} days"


def arguments() -> argparse.Namespace:
    parser = signed(__doc__)
    parser.add_argument("--dry-run", action="store_true", help="only say what would happen")
    parser.add_argument("--source", required=True)
    for name in ("reason", "rename", "cast", "default", "revoke"):
        parser.add_argument(f"--{name}", default="")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
