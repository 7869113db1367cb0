"""Retracts facts, or takes a retraction back: marks rows of silver and builds the touched days again, gated.

    python spark_jobs/retract.py --source web.events --where "user_agent like 'nonsense%'" --why "a broken client" \\
        --operation retract/1 --who lina

Asked again for the same operation it does what is left. Exit status: 0 published; 2 the request cannot be done; 3 it
was refused, or a gate refused and readers keep the last good numbers; else it crashed, which is always safe.
"""

import sys

from penstock.engine.matching import named
from penstock.engine.stating import form, run
from penstock.lake.layout import Layout
from penstock.lake.retractions import Retraction
from penstock.model.source import Source


def main() -> int:
    asked = form(__doc__).parse_args()

    def said(_: Layout, of: Source) -> Retraction:
        return named(asked.operation, of, asked.where, asked.first, asked.last, asked.revoke, asked.who, asked.why)

    return run("retract", asked, said)


if __name__ == "__main__":
    sys.exit(main())
