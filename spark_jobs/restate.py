"""Corrects a field of facts by a rule, or takes that back: rows get another value, the touched days are built, gated.

    python spark_jobs/restate.py --source web.events --where "region = 'Rhienland'" --field region \\
        --value "'Rhineland'" --why "a misspelling in release 4.2" --operation restate/1 --who lina

Asked again for the same operation it does what is left. Exit status: 0 published; 2 the request cannot be done; 3 it
was refused, or a gate refused and readers keep the last good numbers; else it crashed, which is always safe.
"""

import sys

from penstock.engine.restating import named
from penstock.engine.stating import form, run
from penstock.lake.layout import Layout
from penstock.lake.retractions import Retraction
from penstock.model.source import Source


def main() -> int:
    parser = form(__doc__)
    parser.add_argument("--field", default="", help="the field that says something wrong")
    parser.add_argument("--value", default="", help="what is right: SQL on the columns of the same fact")
    asked = parser.parse_args()

    def said(layout: Layout, of: Source) -> Retraction:
        facts = (asked.where, asked.first, asked.last)
        what = (asked.field, asked.value, asked.revoke)
        return named(layout, asked.operation, of, *facts, *what, asked.who, asked.why)

    return run("restate", asked, said)


if __name__ == "__main__":
    sys.exit(main())
