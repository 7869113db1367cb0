"""Builds views from silver, has the gate judge them, and publishes what passed.

    python spark_jobs/build_views.py --domain web
    python spark_jobs/build_views.py --from 2026-11-01 --to 2026-11-07

Without dates: the days that gained facts since the last build. With dates: these days as well, both ends included.
A source whose new dispositions its own suite refuses is not built, unless `--accept-rejected yes`.
Exit status: 0 published, or nothing was new; 2 the request cannot be done; 3 a gate refused, and readers keep the last
good numbers; else it crashed, which is always safe: start it again.
"""

import argparse
import sys
from datetime import UTC, date, datetime

from penstock.engine import intake
from penstock.engine.build import Batch
from penstock.engine.gate import recorded
from penstock.engine.pinning import take
from penstock.engine.publish import Refused
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import current
from penstock.lake.session import open_session
from penstock.model.domain import Domain, domains
from penstock.model.view import source_of
from penstock.settings import Settings


def main() -> int:
    asked = arguments()
    settings = Settings.from_env()
    layout = Layout(settings.lake)
    chosen = list(domains().values()) if asked.domain == "all" else [domains()[asked.domain]]
    # A fresh home: no session is opened for nothing.
    if not any(shaped(layout, domain) for domain in chosen):
        print("no source has silver yet: nothing to build")  # noqa: T201
        return 0
    spark = open_session(settings, "build_views")
    refused, publications = 0, 0
    for domain in chosen:
        release = current(layout, domain.name)
        batch = Batch(spark, layout, release, recorded(layout, release))
        judge = recorded(layout, release, layout.silver)
        sick = {} if asked.accept == "yes" else intake.refused(spark, layout, release, domain.views, judge)
        refused += len(sick)
        for why in sick.values():
            print(why, file=sys.stderr)  # noqa: T201
        fit = [view for view in domain.views if source_of(view).name not in sick]
        try:
            for built in batch.build(fit, full=asked.full == "yes", days=asked.days):
                publications += 1
                print(f"published {built.view} up to epoch {built.cut}, days {built.days or 'all'}")  # noqa: T201
        except Refused as refusal:
            refused += 1
            print(refusal, file=sys.stderr)  # noqa: T201
    if publications:
        print(f"restore point {take(layout, 'publish', 'build_views', f'{publications} views were published').id}")  # noqa: T201
    return 3 if refused else 0


def shaped(layout: Layout, domain: Domain) -> bool:
    """Whether any source of the domain has silver."""
    release = current(layout, domain.name)
    return any(open_table(layout.silver(release, source.name)) for source in domain.sources)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default="all", choices=["all", *domains()])
    parser.add_argument("--from", dest="first", type=day, help="first UTC day, YYYY-MM-DD")
    parser.add_argument("--to", dest="last", type=day, help="last UTC day; the first one when absent")
    parser.add_argument("--full", nargs="?", const="yes", default="no", choices=["yes", "no"], help="all facts again")
    accept = "build also what the suite of a source refuses"
    parser.add_argument("--accept-rejected", dest="accept", default="no", choices=["yes", "no"], help=accept)
    asked = parser.parse_args()
    last = asked.last or asked.first
    if (asked.first is None) != (last is None) or (last and last < asked.first):
        parser.error(f"--from {asked.first} --to {asked.last} is no range of days: give the earlier day first.")
    if last and last > datetime.now(UTC).date():
        parser.error(f"{last} is in the future: there is nothing to build yet.")
    asked.days = (asked.first, last) if asked.first else None
    return asked


def day(text: str) -> date | None:
    """Empty is no day, so that a form's empty field may be passed on."""
    return date.fromisoformat(text) if text else None


if __name__ == "__main__":
    sys.exit(main())
