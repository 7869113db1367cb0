"""From a finished set-up to all parts well, and back to no process: in a fresh home, then in one that knows itself."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from penstock.ops.bench import Figure
from penstock.ops.stack import orphans, trial
from penstock.ops.stack.run import start, stop
from penstock.settings import Settings


def once(settings: Settings, home: str) -> Iterator[Figure]:
    """One start and one stop. Right when every part was well, and when no process was left."""
    begun = time.monotonic()
    stack = start(settings, detach=True)
    told = trial.well(stack)
    seconds = round(time.monotonic() - begun, 1)
    well = all(each.well for each in told)
    yield Figure("startup", f"seconds to well, {home}", seconds, goal="<= 30 s", gate_ok=well)
    begun = time.monotonic()
    stop(stack.home)
    seconds = round(time.monotonic() - begun, 1)
    left = len(orphans.processes(stack.home.stack))
    yield Figure(
        "startup", f"seconds to stopped, {home}", seconds, goal="<= 8 s", gate_ok=not left, detail={"left": left}
    )


def run(quick: bool) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder, trial.resting():
        settings = trial.settings(Path(folder, "home"))
        for home in ["fresh home"] if quick else ["fresh home", "known home"]:
            yield from once(settings, home)
