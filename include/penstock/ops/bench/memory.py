"""What a stack at rest holds of the machine's memory (PSS: a shared page is counted once over all who share it)."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from penstock.ops.bench import Figure
from penstock.ops.stack import state, trial
from penstock.ops.stack.run import start, stop

GB = 2**30
# The parts of the promise; collector and serve are told beside them.
PROMISED = ("broker", "api-server", "scheduler", "dag-processor", "triggerer")


def rest(settle: float) -> list[state.State]:
    """The states of a stack that has had `settle` seconds to come to rest, with DAGs read but paused."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder, trial.resting():
        stack = start(trial.settings(Path(folder, "home")), detach=True)
        try:
            trial.well(stack)
            time.sleep(settle)
            return state.states(stack.home, stack.rows)
        finally:
            stop(stack.home)


def run(quick: bool) -> Iterator[Figure]:
    told = rest(20 if quick else 90)
    size = {each.part: each.memory for each in told}
    ours = sum(size[part] for part in PROMISED) / GB
    yield Figure(
        "memory",
        "GB of broker and Airflow at rest (PSS)",
        round(ours, 2),
        goal="<= 2.0 GB",
        gate_ok=all(each.well for each in told),
        detail={part: f"{bytes_ / 2**20:.0f} MB" for part, bytes_ in size.items()},
    )
