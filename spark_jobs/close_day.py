"""Makes silver exact: late copies of facts become duplicates; what is new and the days that lose a fact are built.

    python spark_jobs/close_day.py --domain web

Looks at what came since the last time, against the whole history of ids; asked again it does what is left.
Exit status: 0 exact; 2 the request cannot be done; 3 a gate refused, readers keep the last good numbers and the days
stay open; else it crashed, which is always safe: start it again.
"""

import argparse
import subprocess
import sys
from functools import partial

from penstock.engine import intake
from penstock.engine.closing import close
from penstock.engine.gate import recorded
from penstock.engine.halting import halted, shapes_of
from penstock.engine.lease import LeaseTaken
from penstock.engine.lineage import Touched, kept_up, told
from penstock.engine.publish import Refused
from penstock.lake.code import folder_of
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import current
from penstock.lake.session import open_session, session_of
from penstock.model.domain import domains, use
from penstock.settings import Settings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default="all", choices=["all", *domains()])
    asked = parser.parse_args().domain
    if asked != "all":
        settings = Settings.from_env()
        return told(settings, "close_day", partial(closed, settings, asked))
    # A domain's current release may run its own code, so each domain has its own process.
    words = [sys.executable, *sys.argv]
    statuses = [subprocess.run([*words, f"--domain={name}"], check=False).returncode for name in domains()]
    return next((status for status in statuses if status not in (0, 3)), max(statuses))


def closed(settings: Settings, name: str, touched: Touched) -> int:
    layout = Layout(settings.lake)
    release = current(layout, name)
    code = folder_of(layout, settings.home, name, release)
    if code:
        use(code)
    sources = [one for one in domains()[name].sources if open_table(layout.silver(release, one.name))]
    # A fresh home: no session is opened for nothing.
    if not sources:
        print(f"no source of {name} has silver yet")  # noqa: T201
        return 0
    touched.reads(*(layout.silver(release, one.name) for one in sources))
    spark = open_session(settings, "close_day", **session_of(code))
    judge = recorded(layout, release, layout.silver)
    sick = intake.refused(spark, layout, release, domains()[name].views, judge)
    for why in sick.values():
        print(why, file=sys.stderr)  # noqa: T201
    try:
        with touched.changing(partial(kept_up, layout, [name])):
            for source in (one for one in sources if one.name not in sick):
                quiet = partial(halted, settings.home, shapes_of(layout, source))
                lost = close(spark, layout, release, source, recorded(layout, release), quiet)
                print(f"{source.name} is exact; days that lost late copies: {', '.join(map(str, lost)) or 'none'}")  # noqa: T201
    except (LeaseTaken, Refused) as refused:
        print(refused, file=sys.stderr)  # noqa: T201
        return 3
    return 3 if sick else 0


if __name__ == "__main__":
    sys.exit(main())
