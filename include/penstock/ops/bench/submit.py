"""What a short Spark job from Airflow costs beside its own work, and how long its DAG files take to parse.

A real Airflow runs a DAG of one Spark step some times. A task's time is Airflow's own, from its start to its end; the
job's work is what it says it took once its session was open. All else is overhead.
"""

import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from penstock.cockpit import Cockpit, Run
from penstock.ops import load
from penstock.ops.airflow.environment import PROJECT
from penstock.ops.bench import Figure
from penstock.ops.stack import trial
from penstock.ops.stack.parts import parts
from penstock.ops.stack.run import start, stop
from penstock.settings import Settings

DAG, ROWS = "short_job", 1_000
# What runs a DAG: data, deferred tasks and pages are other benchmarks'.
NEEDED = ("api-server", "scheduler", "dag-processor")
FOLDER = "AIRFLOW__CORE__DAGS_FOLDER"
PATIENCE = 240.0


@contextmanager
def airflow(home: Path, needed: Collection[str] = NEEDED) -> Iterator[Settings]:
    """Airflow with the product's own DAGs, paused, and those of measurements beside them; `needed` parts only."""
    dags = home / "dags"
    shutil.copytree(PROJECT / "dags", dags, ignore=shutil.ignore_patterns("__pycache__"))
    for dag in Path(load.__file__).parent.glob("*_dag.py"):
        shutil.copy(dag, dags)
    settings = trial.settings(home)
    os.environ[FOLDER] = str(dags)
    try:
        with trial.resting():
            stack = start(settings, detach=True, rows=[part for part in parts(settings) if part.name in needed])
        try:
            trial.well(stack)
            yield settings
        finally:
            stop(stack.home)
    finally:
        del os.environ[FOLDER]


def run(quick: bool) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder, airflow(Path(folder, "home")) as settings:
        cockpit = Cockpit(settings, "admin")
        until(lambda: DAG in durations(cockpit), "the DAG files to be read")
        yield overhead("submit", cockpit, settings, 3 if quick else 5)
        # Whoever is read first pays for imports that all others find done.
        first, *parsed = durations(cockpit).items()
        yield Figure(
            "submit",
            "seconds to parse the slowest DAG file after the first import",
            round(max(seconds for _, seconds in parsed), 2),
            goal="<= 0.5 s",
            gate_ok=len(parsed) > 1,
            detail={"first": first, **{dag: round(seconds, 2) for dag, seconds in parsed}},
        )


def overhead(name: str, cockpit: Cockpit, settings: Settings, times: int) -> Figure:
    cockpit.unpause(DAG)
    # The first reads from disk what the others find in memory: it is told, and counts for nothing.
    first, *took = [once(cockpit, settings) for _ in range(1 + times)]
    rows = DeltaTable(f"{settings.lake}/short").to_pyarrow_table().num_rows
    beyond = sorted(round(each["task"] - each["work"], 2) for each in took)
    return Figure(
        name,
        f"seconds of overhead of a short Spark job from Airflow, median of {times}",
        round(statistics.median(beyond), 2),
        goal="<= 6 s",
        gate_ok=rows == ROWS * (1 + times),
        detail={"all": beyond, "first": first, "others": took},
    )


def once(cockpit: Cockpit, settings: Settings) -> dict[str, float]:
    """One run of the job: the task's seconds, and where they went."""
    begun = cockpit.trigger(DAG, {})
    until(lambda: cockpit.state(begun).over, "the job's end")
    task = cockpit.get(f"/dags/{DAG}/dagRuns/{begun.id}/taskInstances/{DAG}")
    if task["state"] != "success":
        raise RuntimeError(f"the short job failed: {cockpit.why(begun)}")
    return stages(task, said(settings, begun))


def stages(task: dict[str, Any], job: dict[str, float]) -> dict[str, float]:
    first, last = (datetime.fromisoformat(task[name]).timestamp() for name in ("start_date", "end_date"))
    told = {
        "task": last - first,
        "before Python": job["began"] - first,
        "session": job["opened"] - job["began"],
        "work": job["done"] - job["opened"],
        "end": last - job["done"],
    }
    return {name: round(seconds, 2) for name, seconds in told.items()}


def said(settings: Settings, run: Run) -> dict[str, float]:
    told: dict[str, float] = json.loads((settings.home / "run" / f"short-{run.id}.json").read_text())
    return told


def durations(cockpit: Cockpit) -> dict[str, float]:
    """DAG -> seconds that its file took when Airflow read it last, in the order in which they were read."""
    found = [dag for dag in cockpit.get("/dags?limit=100")["dags"] if dag["last_parse_duration"] is not None]
    in_order = sorted(found, key=lambda dag: str(dag["last_parsed_time"]))
    return {dag["dag_id"]: dag["last_parse_duration"] for dag in in_order}


def until(true: Callable[[], bool], what: str) -> None:
    limit = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > limit:
            raise TimeoutError(f"waited {PATIENCE:.0f} s for {what}")
        time.sleep(0.2)
