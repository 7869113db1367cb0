"""A replay of all of bronze into a new release, beside the batch rebuild of the same facts; of one view; restore point;
switch.

The live release is what a real driver made of a real log: the replay's rows are compared with all of its rows.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import httpx
from deltalake import DeltaTable

from penstock.engine.pinning import take
from penstock.lake.files import size_of
from penstock.lake.layout import Layout
from penstock.lake.releases import PREVIOUS, switch
from penstock.ops.bench import Figure
from penstock.ops.bench.rebuild import build
from penstock.ops.bench.undo import timed
from penstock.ops.rig import TOPIC, rig, serving
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

PROJECT = Path(__file__).parents[4]
JOB = PROJECT / "spark_jobs" / "replay.py"
CORES = 2
QUESTION = {"from": "2020-01-01", "to": "2038-01-01", "limit": "10000"}
VIEW, OTHER = "web.pageviews", "web.screens"
# Whoever does not see a switch by then will not.
PATIENCE = 30.0


def run(quick: bool) -> Iterator[Figure]:
    records = int(os.environ.get("PENSTOCK_BENCH_FACTS", "100000" if quick else "2000000"))
    with rig() as place:
        settings = replace(place.settings, serve_port=free_port())
        place.produce(records)
        with place.driver():
            place.wait(place.silver, records)
            place.wait(place.bronze, records)
        rebuilt = build(settings)
        seconds, _ = timed(lambda: replayed(settings))
        right, layout = same(Layout(settings.lake)), Layout(settings.lake)
        detail = {
            "records": records,
            "cores": CORES,
            "memory": "the JVM's start and the gates are in it",
            **far(settings),
        }
        rate = round(records / seconds)
        yield Figure(
            "replay", "records a second, bronze to views", rate, goal=">= 100000", gate_ok=right, detail=detail
        )
        told = "seconds, beside the batch rebuild of the same facts"
        yield Figure("replay", told, seconds, peer=rebuilt, goal="<= 1.5x", gate_ok=right, detail=detail)
        whole, (seconds, _) = seconds, timed(lambda: replayed(settings, "bench/2", *one_view(settings)))
        right = same(layout, "r3") and size_of(layout.gold("r3", OTHER))[0] > size_of(layout.gold("r1", OTHER))[0]
        told = "seconds, one view by other code, beside the whole replay"
        yield Figure("replay", told, seconds, peer=whole, gate_ok=right, detail=detail)
        seconds, point = timed(lambda: take(layout, "hand", "bench", "before the switch"))
        yield Figure("replay", "seconds, restore point", seconds, goal="<= 5 s", detail={"tables": len(point.tables)})
        with serving(settings):
            yield from switches(settings)


def replayed(settings: Settings, operation: str = "bench/1", *more: str) -> None:
    """The job as an operator runs it."""
    words = ["--domain=web", f"--cores={CORES}", f"--operation={operation}", "--who=bench", "--why=bench", *more]
    environment = {**os.environ, **settings.to_env()}
    told = subprocess.run([sys.executable, str(JOB), *words], env=environment, capture_output=True, text=True)
    if told.returncode:
        raise RuntimeError(f"the replay ended with {told.returncode}: {told.stderr[-2000:]}")


def one_view(settings: Settings) -> tuple[str, ...]:
    """The project's code with narrower buckets of one view, as a replay of that view is asked for."""
    folder = settings.home / "narrower"
    for name in ("include/domains/web", "expectations"):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "include/domains/web/views.py"
    before, named, after = file.read_text().partition(f'"{OTHER}"')
    file.write_text(before + named + after.replace('every="1 hour"', 'every="1 minute"', 1))
    return f"--code={folder}", f"--view={OTHER}"


def far(settings: Settings) -> dict[str, float]:
    """Where the time went, as the replay said itself."""
    said = json.loads((settings.home / "run" / "replays" / "web-r2.json").read_text())
    silver = sum(each["seconds"] for each in said["sources"].values())
    return {"silver_seconds": round(silver, 1), "silver_and_views_seconds": said["seconds"]}


def same(layout: Layout, other: str = "r2") -> bool:
    """Whether a release has the same rows as the live one, in every column but the epoch."""
    live, new = (_sum(layout.silver(release, TOPIC)) for release in ("r1", other))
    return live == new


def _sum(silver: str) -> tuple[Any, ...]:
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("silver", DeltaTable(silver).to_pyarrow_dataset())
        told = "select count(*), sum(hash(rows)) from (select * exclude (epoch) from silver) rows"
        return tuple(memory.execute(told).fetchall()[0])


def switches(settings: Settings) -> Iterator[Figure]:
    """From before a switch is committed until the server answers of the other release, with the same rows."""
    layout, before = Layout(settings.lake), answered(settings, "r1")
    for what, to, release in (("switch", "r2", "r2"), ("revert", PREVIOUS, "r1")):
        seconds, rows = timed(partial(moved, settings, layout, to, release))
        told = f"seconds until readers see a {what}"
        yield Figure("replay", told, seconds, goal="<= 1 s", gate_ok=rows == before != [], detail={"rows": len(rows)})


def moved(settings: Settings, layout: Layout, to: str, release: str) -> list[Any]:
    switch(layout, "web", to, "bench", "to see")
    return answered(settings, release)


def answered(settings: Settings, release: str) -> list[Any]:
    """The rows of a view, once they are of this release."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        told = httpx.get(f"http://127.0.0.1:{settings.serve_port}/api/views/{VIEW}", params=QUESTION, timeout=PATIENCE)
        answer = told.raise_for_status().json()
        if answer["certificate"]["release"] == release:
            return sorted(answer["rows"], key=str)
        time.sleep(0.02)
    raise TimeoutError(f"{VIEW} is not answered of {release} after {PATIENCE:.0f} s")
