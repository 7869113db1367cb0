"""What a stack without events holds of the machine's memory (PSS: a shared page counts once over all who share it).

DAGs are on, as in a home that was just made: streams run, looks are taken. Spark's drivers are told beside Airflow.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from penstock.ops.bench import Figure
from penstock.ops.stack import state, trial
from penstock.ops.stack.run import start, stop

GB = 2**30
# The parts of the promise; collector, serve and Spark's drivers are told beside them.
PROMISED = ("broker", "api-server", "scheduler", "dag-processor", "triggerer")
DRIVERS = "drivers of Spark"


def rest(settle: float) -> tuple[list[state.State], dict[str, int]]:
    """The states of a stack that has had `settle` seconds to come to rest, and what each part holds."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        stack = start(trial.settings(Path(folder, "home")), detach=True)
        try:
            trial.well(stack)
            time.sleep(settle)
            told = state.states(stack.home, stack.rows)
            drivers = {each.part: sum(state.memory(pid) for pid in jvms(each.pid)) for each in told}
            held = {each.part: each.memory - drivers[each.part] for each in told}
            return told, {**held, DRIVERS: sum(drivers.values())}
        finally:
            stop(stack.home)


def jvms(pid: int) -> list[int]:
    """The JVMs that a part's tasks have started; each holds its Python below it."""
    below = psutil.Process(pid).children(recursive=True) if pid else []
    return [each.pid for each in below if each.name() == "java"]


def run(quick: bool) -> Iterator[Figure]:
    told, size = rest(40 if quick else 90)
    ours = sum(size[part] for part in PROMISED) / GB
    yield Figure(
        "memory",
        "GB of broker and Airflow without events, DAGs on (PSS)",
        round(ours, 2),
        goal="<= 2.0 GB",
        # Without its driver this would be a stack that does nothing.
        gate_ok=all(each.well for each in told) and size[DRIVERS] > 0,
        detail={part: f"{bytes_ / 2**20:.0f} MB" for part, bytes_ in size.items()},
    )
