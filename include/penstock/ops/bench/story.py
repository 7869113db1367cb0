"""A wrong rule was shipped two days ago: what one person does about it, by three commands to a real Airflow.

Replay by the right code, compare, switch, as the runbook of a wrong rule has it, while readers read on. Bronze is
written as it is (ops/load/archived.py), and the wrong release made before the clock starts.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.cockpit import Cockpit
from penstock.lake.layout import Layout
from penstock.lake.releases import switch
from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.ops.bench import Figure
from penstock.ops.bench.submit import NEEDED, airflow, durations, until
from penstock.ops.bench.undo import timed
from penstock.ops.load.archived import archived
from penstock.ops.load.releases import CORES, answered, far, other_code, replayed
from penstock.ops.rig import TOPIC, serving
from penstock.settings import Settings

RECORDS, QUICK_RECORDS = 10_000_000, 50_000
# One article of so many was taken for no address.
RULE, WRONGED, WRONG = "host is null", "%/articles/7/%", 400
PRESSED = ("replay", "switch")
APPROVED = ("--why=it was wrong", "--yes")


def run(quick: bool) -> Iterator[Figure]:
    records = int(os.environ.get("PENSTOCK_BENCH_FACTS", QUICK_RECORDS if quick else RECORDS))
    needed = ("broker", *NEEDED)
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder, airflow(Path(folder, "home"), needed) as settings:
        ready(Cockpit(settings, "admin"))
        wronged(settings, records)
        with serving(settings):
            answered(settings, "r2")
            yield undone(settings, records)


def ready(cockpit: Cockpit) -> None:
    until(lambda: durations(cockpit).keys() >= {*PRESSED}, "the DAG files to be read")
    for dag in PRESSED:
        cockpit.unpause(dag)


def wronged(settings: Settings, records: int) -> None:
    """Readers have a release whose rule is wrong."""
    ensure(settings.kafka, [source(TOPIC)])
    archived(Layout(settings.lake), records)
    wrong = other_code(settings, "shapes.py", RULE, f"{RULE} or url like '{WRONGED}'")
    replayed(settings, "bench/wrong", f"--code={wrong}")
    switch(Layout(settings.lake), "web", "r2", "bench", "nobody noticed")


def undone(settings: Settings, records: int) -> Figure:
    replay, _ = timed(lambda: said(settings, "replay", "--domain=web", f"--cores={CORES}", *APPROVED))
    compared, told = timed(lambda: said(settings, "compare", "web", "r2", "r3"))
    switched, _ = timed(lambda: (said(settings, "switch", "web", "r3", *APPROVED), answered(settings, "r3")))
    (moves,) = [each for each in told["sources"] if each["source"] == TOPIC]
    right = [(cause["name"], cause["records"]) for cause in moves["causes"]] == [("rule bad_url", records // WRONG)]
    detail = {"records": records, "replay": replay, **far(settings, "r3"), "compare": compared, "switch": switched}
    seconds = round(replay + compared + switched, 1)
    what = "seconds, a wrong rule undone by three commands to Airflow"
    return Figure("story", what, seconds, goal="<= 600 s", gate_ok=right, detail=detail)


def said(settings: Settings, *words: str) -> Any:
    """What a command says once it is done."""
    told = subprocess.run(
        [Path(sys.executable).with_name("penstock"), *words, "--json"],
        env={**os.environ, **settings.to_env()},
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode:
        raise RuntimeError(f"penstock {' '.join(words)} ended with {told.returncode}: {told.stderr[-2000:]}")
    return json.loads(told.stdout)
