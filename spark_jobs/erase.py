"""Erases subjects for good: destroys their keys, and rebuilds what was made of their records.

    python spark_jobs/erase.py --domain web --subjects 0b5c… --why "they asked for it" --operation erase/1 --who lina

Subjects are given by their tokens, which `penstock erase --dry-run` tells. Asked again for the same operation it does
what is left. Exit status: 0 erased; 2 the request cannot be done; 3 refused, or a gate refused; else it crashed: start
it again.
"""

import argparse
import sys
from functools import partial

from penstock.engine.erasure import erase
from penstock.engine.gate import recorded
from penstock.engine.lease import LeaseTaken
from penstock.engine.lineage import kept_up
from penstock.engine.naming import CannotErase
from penstock.engine.publish import Refused
from penstock.engine.signing import book, operated, signed
from penstock.engine.telling import report
from penstock.engine.theirs import asked
from penstock.lake.layout import Layout
from penstock.lake.session import open_session
from penstock.model.domain import domains
from penstock.settings import Settings


def main() -> int:
    form = arguments()
    tables = partial(kept_up, names=[form.domain])
    return operated("erase", tables, partial(erased, form), CannotErase, LeaseTaken, Refused)


def erased(form: argparse.Namespace) -> str:
    settings = Settings.from_env()
    layout = Layout(settings.lake)
    wanted = asked(form.domain, form.subjects, form.operation, form.who, form.why)
    said, built = erase(partial(open_session, settings, "erase"), settings, wanted, partial(recorded, layout))
    file, told = report(settings.home, wanted, said, built)
    facts = {f"{each.source} {release}": counts for each in said for release, counts in each.facts.items()}
    before = {name: f"{most:,} facts" for name, (most, _) in facts.items()}
    after = {name: f"{most - theirs:,} facts" for name, (most, theirs) in facts.items()}
    after |= {"subjects": len(wanted.tokens), "report": str(file)}
    book(layout, form, "erase", form.domain, before, after)
    return told


def arguments() -> argparse.Namespace:
    parser = signed(__doc__)
    parser.add_argument("--domain", required=True, choices=[*domains()])
    parser.add_argument("--subjects", required=True, help="tokens, with commas or white space between")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
