"""How long a part that is killed is away: `kill -9` of each, until it answers again."""

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from penstock.ops.bench import Figure
from penstock.ops.stack import state, trial
from penstock.ops.stack.run import Stack, start, stop

# Whoever is not back by then is not coming.
PATIENCE = 120.0
QUICK = ("broker", "collector", "serve")


def run(quick: bool) -> Iterator[Figure]:
    """Quick: the parts that data passes through. Else Airflow's as well."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder, trial.resting():
        stack = start(trial.settings(Path(folder, "home")), detach=True)
        try:
            for part in (each.part for each in trial.well(stack)):
                if part in QUICK or not quick:
                    yield figure(stack, part)
        finally:
            stop(stack.home)


def figure(stack: Stack, part: str) -> Figure:
    before = look(stack, part).pid
    begun = time.monotonic()
    os.kill(before, signal.SIGKILL)
    while (now := look(stack, part)).pid == before or not now.well:
        if time.monotonic() - begun > PATIENCE:
            break
        time.sleep(0.1)
    seconds = round(time.monotonic() - begun, 1)
    return Figure("recovery", f"seconds to well after kill -9 of {part}", seconds, goal="<= 15 s", gate_ok=now.well)


def look(stack: Stack, part: str) -> state.State:
    return state.states(stack.home, [row for row in stack.rows if row.name == part])[0]
