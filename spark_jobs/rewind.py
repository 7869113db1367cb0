"""Brings a domain, or `all`, back to a restore point; where somebody was erased since, views are built of what is left.

    python spark_jobs/rewind.py --domain web --point 20261118T174640-83e2 --why "the tracker sent nonsense" \\
        --operation rewind/1 --who lina

Asked again it ends what was begun. Exit status: 0 gone back; 2 the request cannot be done; 3 refused and nothing
changed, or a gate refused; else it crashed: start it again, and until then the domain's streams wait.
"""

import argparse
import sys
from functools import partial

from penstock.engine.gate import recorded
from penstock.engine.lease import LeaseTaken
from penstock.engine.lineage import kept_up
from penstock.engine.mending import mend_views
from penstock.engine.publish import Refused
from penstock.engine.returning import ALL, go_back
from penstock.engine.signing import operated, signed
from penstock.engine.ways import CannotRewind
from penstock.lake.layout import Layout
from penstock.lake.restore_points import NoSuchPoint
from penstock.lake.rewinds import Unfinished
from penstock.lake.session import open_session
from penstock.model.domain import domains
from penstock.model.source import Source
from penstock.settings import Settings


def main() -> int:
    asked = arguments()
    tables = partial(kept_up, names=[*domains()] if asked.domain == ALL else [asked.domain])
    refusals = (CannotRewind, LeaseTaken, NoSuchPoint, Refused, Unfinished)
    return operated("rewind", tables, partial(gone_back, asked), *refusals)


def gone_back(asked: argparse.Namespace) -> str:
    settings = Settings.from_env()
    layout = Layout(settings.lake)

    def build(release: str, source: Source) -> None:
        mend_views(open_session(settings, "rewind"), layout, release, source, recorded(layout, release))

    said = (asked.domain, asked.point, asked.operation, asked.who, asked.why, asked.approved_by)
    return go_back(settings, *said, build)


def arguments() -> argparse.Namespace:
    parser = signed(__doc__)
    parser.add_argument("--domain", required=True, choices=[ALL, *domains()])
    parser.add_argument("--point", required=True, help="a restore point's id")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
