"""A replay of all of bronze into a new release, beside the batch rebuild of the same facts; of one view; restore point;
switch; and the story of a wrong rule, over bronze that was written as it is (ops/load/archived.py).

The live release is what a real driver made of a real log: the replay's rows are compared with all of its rows.
"""

import json
import os
import shutil
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
from penstock.ops.load.archived import archived
from penstock.ops.load.jobs import Took, took
from penstock.ops.rig import TOPIC, rig, serving
from penstock.ops.stack.trial import free_port
from penstock.serve.compare.comparison import compare
from penstock.settings import Settings

PROJECT = Path(__file__).parents[4]
CORES = 2
QUESTION = {"from": "2020-01-01", "to": "2038-01-01", "limit": "10000"}
VIEW, OTHER = "web.pageviews", "web.screens"
# One article of so many was taken for no address.
RULE, WRONGED, WRONG = "host is null", "%/articles/7/%", 400
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
        whole = replayed(settings)
        right, layout = same(Layout(settings.lake)), Layout(settings.lake)
        detail = {
            "records": records,
            "cores": CORES,
            "memory": "the JVM's start and the gates are in it",
            **whole.detail,
            **far(settings),
        }
        rate = round(records / whole.seconds)
        yield Figure(
            "replay", "records a second, bronze to views", rate, goal=">= 100000", gate_ok=right, detail=detail
        )
        told = "seconds, beside the batch rebuild of the same facts"
        yield Figure("replay", told, whole.seconds, peer=rebuilt, goal="<= 1.5x", gate_ok=right, detail=detail)
        one = replayed(settings, "bench/2", *one_view(settings))
        right = same(layout, "r3") and size_of(layout.gold("r3", OTHER))[0] > size_of(layout.gold("r1", OTHER))[0]
        told = "seconds, one view by other code, beside the whole replay"
        yield Figure("replay", told, one.seconds, peer=whole.seconds, gate_ok=right, detail=one.detail)
        seconds, point = timed(lambda: take(layout, "hand", "bench", "before the switch"))
        yield Figure("replay", "seconds, restore point", seconds, goal="<= 5 s", detail={"tables": len(point.tables)})
        with serving(settings):
            yield from switches(settings)
    yield from undone(int(os.environ.get("PENSTOCK_BENCH_UNDONE", "50000" if quick else "10000000")))


def undone(records: int) -> Iterator[Figure]:
    """A wrong rule was shipped two days ago, as the runbook has it: replay, compare, switch, while readers read on."""
    with rig() as place:
        settings = replace(place.settings, serve_port=free_port())
        layout = Layout(settings.lake)
        archived(layout, records)
        wrong = other_code(settings, "shapes.py", RULE, f"{RULE} or url like '{WRONGED}'")
        replayed(settings, "bench/wrong", f"--code={wrong}")
        switch(layout, "web", "r2", "bench", "nobody noticed")
        with serving(settings):
            answered(settings, "r2")
            whole = replayed(settings, "bench/right")
            compared, told = timed(lambda: compare(layout, settings.home, "web", "r2", "r3"))
            switched, _ = timed(lambda: moved(settings, layout, "r3", "r3"))
        (moves,) = [each for each in told.sources if each.source == TOPIC]
        right = [(cause.name, cause.records) for cause in moves.causes] == [("rule bad_url", records // WRONG)]
        detail = {
            "records": records,
            "replay": whole.detail | far(settings, "r3"),
            "compare": compared,
            "switch": switched,
        }
        seconds = round(whole.seconds + compared + switched, 1)
        told_of = "seconds, a wrong rule undone: replayed, compared, switched"
        yield Figure("replay", told_of, seconds, goal="<= 600 s", gate_ok=right, detail=detail)


def replayed(settings: Settings, operation: str = "bench/1", *more: str) -> Took:
    words = ["--domain=web", f"--cores={CORES}", f"--operation={operation}", "--who=bench", "--why=bench", *more]
    return took(settings, "replay", *words)


def one_view(settings: Settings) -> tuple[str, ...]:
    """Narrower buckets of one view, as a replay of that view is asked for."""
    narrower = other_code(settings, "views.py", 'every="1 hour"', 'every="1 minute"', after=f'"{OTHER}"')
    return f"--code={narrower}", f"--view={OTHER}"


def other_code(settings: Settings, name: str, old: str, new: str, after: str = "") -> Path:
    """The project's code of the web but for one line, the first after some text."""
    folder = settings.home / "other"
    for part in ("include/domains/web", "expectations"):
        shutil.copytree(PROJECT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "include/domains/web" / name
    before, named, rest = file.read_text().partition(after) if after else ("", "", file.read_text())
    if old not in rest:
        raise ValueError(f"{file} has no {old!r}")
    file.write_text(before + named + rest.replace(old, new, 1))
    return folder


def far(settings: Settings, release: str = "r2") -> dict[str, float]:
    """Where the time went, as the replay said itself."""
    said = json.loads((settings.home / "run" / "replays" / f"web-{release}.json").read_text())
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
