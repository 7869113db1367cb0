"""What a stack costs while little happens: memory without events, and the processor at 50 events a second.

DAGs are on, as in a home that was just made: streams run, looks are taken. Spark's drivers are told beside Airflow.
Memory is PSS: a shared page counts once over all who share it.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from penstock.ops.bench import Figure
from penstock.ops.demo.stages import collected
from penstock.ops.demo.traffic import Traffic, flowing
from penstock.ops.stack import state, trial
from penstock.ops.stack.run import Stack, start, stop, supervisor
from penstock.settings import Settings

GB = 2**30
# The parts of the promise; collector, serve and Spark's drivers are told beside them.
PROMISED = ("broker", "api-server", "scheduler", "dag-processor", "triggerer")
DRIVERS = "drivers of Spark"
RATE = 50.0
# The first epochs after silence compile their plans.
WARM = 30.0


def run(quick: bool) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        settings = trial.settings(Path(folder, "home"))
        stack = start(settings, detach=True)
        try:
            trial.well(stack)
            time.sleep(40 if quick else 90)
            yield held(stack)
            yield used(settings, stack, 30 if quick else 180)
        finally:
            stop(stack.home)


def held(stack: Stack) -> Figure:
    told = state.states(stack.home, stack.rows)
    size = apart(told, state.memory)
    return Figure(
        "memory",
        "GB of broker and Airflow without events, DAGs on (PSS)",
        round(sum(size[part] for part in PROMISED) / GB, 2),
        goal="<= 2.0 GB",
        # Without its driver this would be a stack that does nothing; a part that weighs nothing was counted elsewhere.
        gate_ok=all(each.well for each in told) and all(size.values()),
        detail={part: f"{bytes_ / 2**20:.0f} MB" for part, bytes_ in size.items()},
    )


def used(settings: Settings, stack: Stack, seconds: float) -> Figure:
    """By everything below the supervisor, the supervisor included; not by who sends."""
    with flowing(settings, stack.home, Traffic(RATE, None, wrong=0)):
        time.sleep(WARM)
        told, events = state.states(stack.home, stack.rows), collected(settings).moved
        begun, whole, before = time.monotonic(), cpu(supervisor(stack.home)), apart(told, cpu)
        time.sleep(seconds)
        after, events = apart(told, cpu), collected(settings).moved - events
        whole, minutes = cpu(supervisor(stack.home)) - whole, (time.monotonic() - begun) / 60
    well = all(each.well for each in state.states(stack.home, stack.rows))
    detail = {part: round((after[part] - before[part]) / minutes, 1) for part in before}
    rate = events / minutes / 60
    return Figure(
        "memory",
        f"CPU seconds a minute of the whole stack at {RATE:.0f} events a second",
        round(whole / minutes, 1),
        goal="<= 60 s",
        gate_ok=well and rate > 0.8 * RATE and detail[DRIVERS] > 0,
        detail={**detail, "events a second": round(rate, 1)},
    )


def apart(told: list[state.State], measure: Callable[[int], float]) -> dict[str, float]:
    """What a measure of processes says of each part, and of Spark's drivers, which Airflow's tasks have started."""
    drivers = {each.part: sum(measure(pid) for pid in jvms(each.pid)) for each in told}
    return {**{each.part: measure(each.pid) - drivers[each.part] for each in told}, DRIVERS: sum(drivers.values())}


def jvms(pid: int) -> list[int]:
    """The JVMs that a part's tasks have started; each holds its Python below it. The broker is one itself."""
    found = []
    for each in family(pid)[1:]:
        with suppress(psutil.NoSuchProcess):
            found += [each.pid] * (each.name() == "java")
    return found


def cpu(pid: int) -> float:
    """Seconds of a process, of all below it, and of those below it that have ended."""
    seconds = 0.0
    for each in family(pid):
        with suppress(psutil.NoSuchProcess):
            seconds += sum(each.cpu_times()[:4])
    return seconds


def family(pid: int) -> list[psutil.Process]:
    """A process and all below it, the oldest first; none for a part that does not run."""
    try:
        return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)] if pid else []
    except psutil.NoSuchProcess:
        return []
