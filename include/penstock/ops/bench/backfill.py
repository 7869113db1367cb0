"""Days that were built are built again, beside the one build of everything: all by one run, as the form asks for a
range, and by Airflow's own backfill, a run a day, from its request until the last run is over.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from penstock.cockpit import Cockpit
from penstock.lake.files import size_of
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.domain import source, views_of
from penstock.ops.bench import Figure
from penstock.ops.bench.orchestration import BUILDS, moment
from penstock.ops.bench.rebuild import SOURCE, START, built, counted, fill, page_views
from penstock.ops.bench.submit import airflow, durations, until
from penstock.ops.load.jobs import took

FACTS, QUICK_FACTS = 10_000_000, 60_000
DAYS, QUICK_DAYS = 30, 3


def run(quick: bool) -> Iterator[Figure]:
    facts = int(os.environ.get("PENSTOCK_BENCH_FACTS", QUICK_FACTS if quick else FACTS))
    days = int(os.environ.get("PENSTOCK_BENCH_DAYS", QUICK_DAYS if quick else DAYS))
    first, last = START.date(), (START + timedelta(days=days - 1)).date()
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder, airflow(Path(folder, "home")) as settings:
        cockpit, layout = begun(Cockpit(settings, "admin")), Layout(settings.lake)
        silver = layout.silver(FIRST_RELEASE, SOURCE)
        fill(silver, facts, 0, days)
        whole = built(settings)
        rows, detail = published(layout), {"facts": facts, "days": days, "one build of all": whole.detail}

        def figure(way: str, seconds: float, more: dict[str, Any]) -> Figure:
            right = published(layout) == rows and counted(layout) == page_views(silver)
            what = f"seconds, all views of {days} days {way}, beside one build of all"
            return Figure("backfill", what, seconds, whole.seconds, goal="<= 1.5x", gate_ok=right, detail=detail | more)

        again = took(settings, "build_views", "--domain=web", f"--from={first}", f"--to={last}")
        yield figure("by one run", again.seconds, again.detail)
        ends = backfilled(cockpit, first, last)
        yield figure("by Airflow's backfill", ends[-1], {"seconds until each run was over": ends})


def begun(cockpit: Cockpit) -> Cockpit:
    """When builds have run once: the first task of a fresh Airflow imports what all others find in memory."""
    until(lambda: BUILDS in durations(cockpit), "the DAG files to be read")
    cockpit.unpause(BUILDS)
    until(lambda: bool(cockpit.get(f"/dags/{BUILDS}/dagRuns?state=success")["total_entries"]), "the first run")
    return cockpit


def backfilled(cockpit: Cockpit, first: date, last: date) -> list[float]:
    """Has the days built by Airflow: the seconds until each day's run was over."""
    asked = time.time()
    cockpit.backfill(BUILDS, first, last)
    every = f"/dags/{BUILDS}/dagRuns?run_type=backfill&limit=100&order_by=logical_date"
    runs = cockpit.get(every)["dag_runs"]
    while any(run["end_date"] is None for run in runs):
        time.sleep(1)
        runs = cockpit.get(every)["dag_runs"]
    if wrong := {run["state"] for run in runs} - {"success"}:
        raise RuntimeError(f"runs of the backfill ended otherwise than well: {wrong}")
    return [round(moment(run["end_date"]) - asked, 1) for run in runs]


def published(layout: Layout) -> dict[str, int]:
    """How many rows readers see of each view."""
    return {view.name: size_of(layout.gold(FIRST_RELEASE, view.name))[0] for view in views_of(source(SOURCE))}
