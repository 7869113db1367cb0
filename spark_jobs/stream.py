"""Runs the streams of a group in one driver: archive and shape of each of its sources.

    python spark_jobs/stream.py --shift-hours 6
    python spark_jobs/stream.py --group streams_clicks
    python spark_jobs/stream.py --domains web --release r2

A release that has its own code has its own driver, of one domain; the archive is that of the first release's driver.
Exit status: 0 the shift is over or somebody asked it to stop; 2 there is no such group; 3 another driver has the lease;
else it crashed, which is always safe: start it again.
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
from penstock.model.group import RELEASED, REST, BadGroups, Group, group
from penstock.model.source import Source
from penstock.model.view import source_of
from penstock.settings import Settings


def main() -> int:
    settings = Settings.from_env()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", default=REST, help="a stream group of PENSTOCK_STREAM_GROUPS")
    parser.add_argument("--domains", default="", help="instead of a group: all sources of these, with commas")
    parser.add_argument("--sources", default="", help="instead of a group: these, with commas")
    parser.add_argument("--release", default=FIRST_RELEASE)
    parser.add_argument("--shift-hours", type=float, default=settings.shift_hours)
    asked = parser.parse_args()
    first = asked.domains.partition(",")[0] or next(iter(domains()))
    code = folder_of(Layout(settings.lake), settings.home, first, asked.release)
    use(code)
    try:
        hosted = hosted_by(settings, asked)
    except BadGroups as bad:
        print(bad, file=sys.stderr)  # noqa: T201
        return 2

    def shift(_: Touched) -> int:
        try:
            return run(settings, hosted, asked.release, asked.shift_hours, code)
        except LeaseTaken as taken:
            print(taken, file=sys.stderr)  # noqa: T201
            return 3

    return told(settings, "stream", shift, streamed(settings, hosted.sources, asked.release))


def hosted_by(settings: Settings, asked: argparse.Namespace) -> Group:
    """What this driver runs. A release's own driver says so: it is no group's."""
    own = [source(name) for name in asked.sources.split(",") if name]
    whole = [each for name in asked.domains.split(",") if name for each in domains()[name].sources]
    if not (own or whole):
        return group(settings.stream_groups, asked.group)
    return Group(asked.group if asked.release == FIRST_RELEASE else RELEASED, tuple(own or whole))


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
