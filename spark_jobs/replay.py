"""Replays a domain into a new release: silver from bronze by some code, then its views, gated.

    python spark_jobs/replay.py --domain web --code HEAD~1 --operation replay/1 --who lina --why "bots were counted"

Asked again for the same operation, it goes on where it was. Exit status: 0 the release is ready; 2 the request cannot
be done; 3 refused: the sentence says why and what is left; else it crashed, which is always safe: start it again.
"""

import argparse
import os
import sys
from functools import partial

from penstock.engine.lease import LeaseTaken
from penstock.engine.lineage import kept_up
from penstock.engine.releasing import prepared, replay
from penstock.engine.signing import operated
from penstock.lake import replays
from penstock.lake.code import unpacked
from penstock.lake.layout import Layout
from penstock.lake.releases import Refused
from penstock.lake.session import give_way
from penstock.model.domain import CodeRefused, domains, use
from penstock.settings import Settings


def main() -> int:
    asked = arguments()
    tables = partial(kept_up, names=[asked.domain])
    return operated("replay", tables, partial(replayed, asked), Refused, CodeRefused, LeaseTaken)


def replayed(asked: argparse.Namespace) -> str:
    settings = Settings.from_env()
    give_way(os.getpid())
    prepared(settings)
    layout = Layout(settings.lake)
    cores, approved_by = asked.__dict__.pop("cores"), asked.__dict__.pop("approved_by")
    release = replays.begin(layout, settings.home, replays.Asked(**vars(asked)))
    folder = unpacked(layout, settings.home, asked.domain, release.hash)
    use(folder)
    return replay(settings, release, folder, cores, approved_by)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", required=True, choices=list(domains()))
    parser.add_argument("--code", default="", help="a folder, a wheel or a git revision; empty: what is deployed")
    parser.add_argument("--source", default="", help="only this source; the others are taken over as they are")
    parser.add_argument("--view", default="", help="only this view; facts and all others are taken over as they are")
    parser.add_argument("--from", dest="first", default="", help="only what arrived on this UTC day or later")
    parser.add_argument("--to", dest="last", default="", help="only what arrived on this UTC day or before")
    parser.add_argument("--cores", type=int, default=1, help="how many cores it may use beside the live streams")
    parser.add_argument("--operation", required=True)
    parser.add_argument("--who", required=True)
    parser.add_argument("--why", required=True)
    parser.add_argument("--approved-by", default="")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
