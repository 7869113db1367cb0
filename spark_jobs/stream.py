"""Runs the streams of some domains in one driver: archive and shape of each of their sources.

    python spark_jobs/stream.py --shift-hours 6
    python spark_jobs/stream.py --domains web --release r2

A release that has its own code has its own driver, of one domain; the archive is that of the first release's driver.
Exit status: 0 the shift is over or somebody asked it to stop; 3 another driver has the lease; else it crashed, which is
always safe: start it again.
"""

import argparse
import sys
from collections.abc import Sequence

from penstock.engine.driver import run
from penstock.engine.lease import LeaseTaken
from penstock.engine.lineage import Touched, told
from penstock.lake.code import folder_of
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.domain import domains, source, use
from penstock.model.source import Source
from penstock.model.view import source_of
from penstock.settings import Settings


def main() -> int:
    settings = Settings.from_env()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", default="", help="names with commas; all domains when absent")
    parser.add_argument("--sources", default="", help="only these sources, with commas: one driver each, on a cluster")
    parser.add_argument("--release", default=FIRST_RELEASE)
    parser.add_argument("--shift-hours", type=float, default=settings.shift_hours)
    asked = parser.parse_args()
    names = [name for name in asked.domains.split(",") if name] or list(domains())
    code = folder_of(Layout(settings.lake), settings.home, names[0], asked.release)
    use(code)
    chosen = [source(name) for name in asked.sources.split(",") if name] or [
        each for name in names for each in domains()[name].sources
    ]

    def shift(_: Touched) -> int:
        try:
            return run(settings, chosen, asked.release, asked.shift_hours, code)
        except LeaseTaken as taken:
            print(taken, file=sys.stderr)  # noqa: T201
            return 3

    return told(settings, "stream", shift, streamed(settings, chosen, asked.release))


def streamed(settings: Settings, chosen: Sequence[Source], release: str) -> Touched:
    """Topics in; bronze, silver and speed out."""
    layout, broker = Layout(settings.lake), settings.kafka.partition(",")[0]
    names = {each.name for each in chosen}
    views = [view for domain in domains().values() for view in domain.views if source_of(view).name in names]
    tables = [
        *(layout.bronze(name) for name in names if release == FIRST_RELEASE),
        *(layout.silver(release, name) for name in names),
        *(layout.speed(release, view.name) for view in views),
    ]
    return Touched({f"kafka://{broker}/{name}": None for name in sorted(names)}, dict.fromkeys(sorted(tables)))


if __name__ == "__main__":
    sys.exit(main())
