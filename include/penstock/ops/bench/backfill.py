"""Days built again one by one, a job each, as Airflow's backfill does it, beside one build of all of them.

What Airflow adds to each job is `penstock bench orchestration`'s to say.
"""

import os
from collections.abc import Iterator
from datetime import timedelta

from penstock.lake.files import size_of
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.domain import source, views_of
from penstock.ops.bench import Figure
from penstock.ops.bench.rebuild import SOURCE, START, built, counted, filled, page_views
from penstock.ops.load.jobs import took

FACTS, QUICK_FACTS = 10_000_000, 60_000
DAYS, QUICK_DAYS = 30, 2


def run(quick: bool) -> Iterator[Figure]:
    facts = int(os.environ.get("PENSTOCK_BENCH_FACTS", QUICK_FACTS if quick else FACTS))
    days = QUICK_DAYS if quick else DAYS
    with filled(facts, days) as (settings, silver):
        layout, whole = Layout(settings.lake), built(settings)
        rows = published(layout)
        asked = [(START + timedelta(days=number)).date() for number in range(days)]
        jobs = [took(settings, "build_views", "--domain=web", f"--from={day}", f"--to={day}") for day in asked]
        yield Figure(
            "backfill",
            f"seconds, all views of {days} days one by one, beside one build of all",
            round(sum(job.seconds for job in jobs), 1),
            peer=whole.seconds,
            goal="<= 1.5x",
            gate_ok=published(layout) == rows and counted(layout) == page_views(silver),
            detail={
                "facts": facts,
                "CPU seconds one by one": round(sum(job.cost.cpu_seconds for job in jobs), 1),
                "CPU seconds at once": round(whole.cost.cpu_seconds, 1),
                "slowest day": max(job.seconds for job in jobs),
            },
        )


def published(layout: Layout) -> dict[str, int]:
    """How many rows readers see of each view."""
    return {view.name: size_of(layout.gold(FIRST_RELEASE, view.name))[0] for view in views_of(source(SOURCE))}
