"""What happens to builds on a bad day: each disturbs one that is under way, at a moment of chance."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random

import psutil
from operators import SECONDS, Operator
from standing import eventually

from penstock.ops.airflow.environment import PROJECT

# A build is under way for six seconds on a quiet machine.
UNDER_WAY = 5.0


def under_way(operator: Operator, chance: Random) -> set[psutil.Process]:
    """The processes of the build, at a moment of chance."""
    assert eventually(lambda: bool(operator.working("build_views")), SECONDS)
    time.sleep(chance.random() * UNDER_WAY)
    return operator.working("build_views")


def identical(operator: Operator, run: str, chance: Random) -> None:
    """Somebody builds the same day from the command line, at the same time."""
    day = operator.ask("GET", f"/dags/build_views/dagRuns/{run}")["conf"]["from"]
    under_way(operator, chance)
    well(by_hand(operator, day))


def by_hand(operator: Operator, day: str) -> "subprocess.Popen[str]":
    """The same job without Airflow."""
    job = [sys.executable, str(PROJECT / "spark_jobs" / "build_views.py"), "--domain=web", f"--from={day}"]
    return subprocess.Popen(job, env=operator.stack.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def well(build: "subprocess.Popen[str]") -> None:
    _, said = build.communicate(timeout=SECONDS)
    assert build.returncode == 0, said[-3000:]


def paused(operator: Operator, run: str, chance: Random) -> None:
    """The machine's half with this build sleeps, and wakes up when its replacement has finished."""
    asleep = list[psutil.Process]()
    for job in under_way(operator, chance):
        # It may be over by now.
        with suppress(psutil.NoSuchProcess):
            for process in (job, *workers(operator, job)):
                process.suspend()
                asleep.append(process)
    try:
        operator.ended(run)
    finally:
        for process in asleep:
            process.resume()
    assert eventually(lambda: not operator.working("build_views"), SECONDS)


def workers(operator: Operator, job: psutil.Process) -> list[psutil.Process]:
    """The task's runner and the worker above it, up to the scheduler."""
    scheduler = operator.stack.part("scheduler")["pid"]
    above = job.parents()
    return above[: [each.pid for each in above].index(scheduler)]


def cleared(operator: Operator, run: str, chance: Random) -> None:
    under_way(operator, chance)
    operator.clear(run)


def killed(operator: Operator, run: str, chance: Random) -> None:
    for process in under_way(operator, chance):
        # The JVM may be quicker to follow its Python.
        with suppress(psutil.NoSuchProcess):
            process.kill()


def without_a_scheduler(operator: Operator, run: str, chance: Random) -> None:
    under_way(operator, chance)
    os.kill(operator.stack.part("scheduler")["pid"], signal.SIGKILL)
    assert eventually(lambda: operator.stack.part("scheduler")["state"] == "well", SECONDS)


DISTURBED: tuple[Callable[[Operator, str, Random], None], ...] = (
    identical,
    paused,
    cleared,
    killed,
    without_a_scheduler,
)
