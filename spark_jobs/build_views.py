"""Builds views from silver, has the gate judge them, and publishes what passed.

    python spark_jobs/build_views.py --domain web
    python spark_jobs/build_views.py --from 2026-11-01 --to 2026-11-07
    python spark_jobs/build_views.py --domain web --view web.pageviews --view web.devices

Without dates: the days that gained facts since the last build. With dates: these days as well, both ends included; days
before the first record are refused, unless the schedule asks for its night, and days whose facts have expired. With
`--along`: also the days up to that one, where the gates let them. With views: only these tallies of facts.
A source whose new dispositions its own suite refuses is not built, unless `--accept-rejected yes`.
Exit status: 0 published, or nothing was new; 2 the request cannot be done; 3 a gate refused, and readers keep the last
good numbers; else it crashed, which is always safe: start it again.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.engine import along, intake
from penstock.engine.build import Batch, Built
from penstock.engine.gate import recorded
from penstock.engine.lineage import Touched, told
from penstock.engine.pinning import take
from penstock.engine.publish import Refused
from penstock.lake.code import folder_of
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import current, kept
from penstock.lake.retention import kept_until
from penstock.lake.session import once_needed, open_session, session_of
from penstock.lake.spark_settings import few_cores
from penstock.model.domain import domains, use
from penstock.model.view import Sessions, Tally, View, source_of
from penstock.settings import Settings


def main() -> int:
    asked, settings = arguments(), Settings.from_env()
    return told(settings, "build_views", partial(built, settings, asked))


def built(settings: Settings, asked: argparse.Namespace, touched: Touched) -> int:
    layout = Layout(settings.lake)
    names = [asked.domain] if asked.domain != "all" else list(domains())
    if asked.release:
        code = folder_of(layout, settings.home, asked.domain, asked.release)
        use(code)
        return build(settings, asked, [(asked.domain, asked.release)], code, touched)
    kept_up = [(name, release) for name in names for release in kept(layout, name)]
    if asked.days and asked.scheduled == "no" and (why := gone(layout, kept_up, asked.days[1])):
        print(why, file=sys.stderr)  # noqa: T201
        return 2
    own = [each for each in kept_up if folder_of(layout, settings.home, *each)]
    statuses = [apart(*each) for each in own]
    statuses.append(build(settings, asked, [each for each in kept_up if each not in own], None, touched))
    # A crash is told before a refusal.
    return next((status for status in statuses if status not in (0, 3)), max(statuses))


def apart(domain: str, release: str) -> int:
    """A release with its own code has its own process."""
    words = [sys.executable, __file__, *sys.argv[1:], f"--domain={domain}", f"--release={release}"]
    return subprocess.run(words, check=False).returncode


def build(
    settings: Settings,
    asked: argparse.Namespace,
    releases: list[tuple[str, str]],
    code: Path | None,
    touched: Touched,
) -> int:
    layout = Layout(settings.lake)
    chosen = [(domains()[name], release) for name, release in releases if shaped(layout, name, release)]
    # A fresh home: no session is opened for nothing.
    if not chosen:
        print("no source has silver yet: nothing to build")  # noqa: T201
        return 0
    # The work is DuckDB's, in Spark's workers: what a JVM compiles for later, few builds live to use. Few facts need no
    # session.
    spark = once_needed(lambda: open_session(settings, "build_views", short=few_cores(), **session_of(code)))
    refused, publications = 0, 0
    for domain, release in chosen:
        judge = recorded(layout, release, layout.silver)
        touched.reads(*(layout.silver(release, source.name) for source in domain.sources))
        views = [view for view in domain.views if wanted(view, asked.views)]
        sick = {} if asked.accept == "yes" else intake.refused(spark, layout, release, views, judge)
        # That a release which nobody reads is refused is told, and no failure.
        read = release == current(layout, domain.name)
        refused += len(sick) * read
        for why in sick.values():
            print(why, file=sys.stderr)  # noqa: T201
        fit = [view for view in views if source_of(view).name not in sick]
        try:
            # Where a view is refused, others are published all the same.
            with touched.changing(partial(gold, layout, release, fit)):
                done = done_of(asked, partial(batch, spark, layout, release, asked.begun), fit)
            for each in done:
                publications += 1
                print(f"published {each.view} up to epoch {each.cut}, days {each.days or 'all'}")  # noqa: T201
        except Refused as refusal:
            refused += read
            print(refusal, file=sys.stderr)  # noqa: T201
    if publications:
        print(f"restore point {take(layout, 'publish', 'build_views', f'{publications} views were published').id}")  # noqa: T201
    return 3 if refused else 0


def batch(spark: SparkSession, layout: Layout, release: str, begun: str, refusals: bool = True) -> Batch:
    made = Batch(spark, layout, release, recorded(layout, release, refusals=refusals))
    made.begun_at = begun
    return made


def done_of(asked: argparse.Namespace, judged: along.Judged, views: Sequence[View]) -> list[Built]:
    if asked.along:
        return along.built(judged, views, asked.first, asked.along)
    return judged(True).build(views, full=asked.full == "yes", days=asked.days)


def gold(layout: Layout, release: str, views: Sequence[View]) -> list[str]:
    return [layout.gold(release, view.name) for view in views]


def wanted(view: View, names: list[str]) -> bool:
    return not names or view.name in names


def tallies() -> list[str]:
    """Views that no other is made of, and that are made of facts: those that may be built alone."""
    every = (view for domain in domains().values() for view in domain.views)
    return [view.name for view in every if isinstance(view, Tally) and not isinstance(view.of, Sessions)]


def gone(layout: Layout, releases: list[tuple[str, str]], last: date) -> str:
    """Why nothing can be built of days up to `last`: silver has no facts of them, or not any more. Empty: some can."""
    for name, release in releases:
        for source in domains()[name].sources:
            until = kept_until(layout, release, source.name)
            if until and until >= last:
                return (
                    f"facts of {source.name} up to {until} have expired: what was counted of them stays. Nothing was "
                    "changed."
                )
    tables = [
        open_table(layout.silver(release, source.name))
        for name, release in releases
        for source in domains()[name].sources
    ]
    kept_days = [set(table.get_add_actions(flatten=True)["partition.day"].to_pylist()) for table in tables if table]
    first = min(set().union(*kept_days), default=last)
    if last >= first:
        return ""
    return (
        f"silver has no records before {first}: there is nothing to build days up to {last} from, and nothing was "
        "changed. What bronze or the log still has of them comes back by a replay."
    )


def shaped(layout: Layout, domain: str, release: str) -> bool:
    """Whether any source of the domain has silver."""
    return any(open_table(layout.silver(release, source.name)) for source in domains()[domain].sources)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default="all", choices=["all", *domains()])
    parser.add_argument("--release", default="", help="only this one of the domain; all that are kept up when absent")
    parser.add_argument("--from", dest="first", type=day, help="first UTC day, YYYY-MM-DD")
    parser.add_argument("--to", dest="last", type=day, help="last UTC day; the first one when absent")
    parser.add_argument("--full", nargs="?", const="yes", default="no", choices=["yes", "no"], help="all facts again")
    one = "a tally of facts that is built alone; may be said again. All views when absent"
    parser.add_argument("--view", dest="views", action="append", default=[], choices=tallies(), help=one)
    by_schedule = "nobody asked: a night before the first record is none to refuse"
    parser.add_argument("--scheduled", default="no", choices=["yes", "no"], help=by_schedule)
    waiting = "the days up to this one as well: others wait for them"
    parser.add_argument("--along", type=day, help=waiting)
    parser.add_argument("--begun", default="", help="since when whoever started it was at it: what this build answers")
    accept = "build also what the suite of a source refuses"
    parser.add_argument("--accept-rejected", dest="accept", default="no", choices=["yes", "no"], help=accept)
    asked = parser.parse_args()
    last = asked.last or asked.first
    if (asked.first is None) != (last is None) or (last and last < asked.first):
        parser.error(f"--from {asked.first} --to {asked.last} is no range of days: give the earlier day first.")
    if last and last > datetime.now(UTC).date():
        parser.error(f"{last} is in the future: there is nothing to build yet.")
    if asked.along and (asked.first is None or last != asked.first or asked.along < last):
        parser.error(f"--along {asked.along} goes with one day before it: give --from.")
    asked.days = (asked.first, last) if asked.first else None
    return asked


def day(text: str) -> date | None:
    """Empty is no day, so that a form's empty field may be passed on."""
    return date.fromisoformat(text) if text else None


if __name__ == "__main__":
    sys.exit(main())
