"""Days that were built are built again: all by one run, as the form asks for a range, and one by one, as Airflow's
own backfill does; beside the one build of everything.

What Airflow adds to each run is `penstock bench orchestration`'s to say.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import timedelta

from penstock.lake.files import size_of
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.domain import source, views_of
from penstock.ops.bench import Figure
from penstock.ops.bench.rebuild import SOURCE, START, built, counted, filled, page_views
from penstock.ops.load.jobs import Took, took

FACTS, QUICK_FACTS = 10_000_000, 60_000
DAYS, QUICK_DAYS = 30, 2


def run(quick: bool) -> Iterator[Figure]:
    facts = int(os.environ.get("PENSTOCK_BENCH_FACTS", QUICK_FACTS if quick else FACTS))
    days = QUICK_DAYS if quick else DAYS
    every = [(START + timedelta(days=number)).date() for number in range(days)]
    ways = {"by one run": [(every[0], every[-1])], "one by one": [(day, day) for day in every]}
    with filled(facts, days) as (settings, silver):
        layout, whole = Layout(settings.lake), built(settings)
        rows = published(layout)
        for way, ranges in ways.items():
            jobs = [took(settings, "build_views", "--domain=web", f"--from={a}", f"--to={b}") for a, b in ranges]
            right = published(layout) == rows and counted(layout) == page_views(silver)
            yield figure(f"seconds, all views of {days} days {way}, beside one build of all", facts, whole, jobs, right)


def figure(what: str, facts: int, whole: Took, jobs: Sequence[Took], right: bool) -> Figure:
    return Figure(
        "backfill",
        what,
        round(sum(job.seconds for job in jobs), 1),
        peer=whole.seconds,
        goal="<= 1.5x",
        gate_ok=right,
        detail={
            "facts": facts,
            "cpu_seconds": round(sum(job.cost.cpu_seconds for job in jobs), 1),
            "cpu_seconds of one build of all": round(whole.cost.cpu_seconds, 1),
            "slowest run": max(job.seconds for job in jobs),
        },
    )


def published(layout: Layout) -> dict[str, int]:
    """How many rows readers see of each view."""
    return {view.name: size_of(layout.gold(FIRST_RELEASE, view.name))[0] for view in views_of(source(SOURCE))}
