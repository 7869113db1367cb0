"""A job as an operator runs it, and what it took."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.ops.rig import Cost, measured
from penstock.settings import Settings

JOBS = Path(__file__).parents[4] / "spark_jobs"


@dataclass(frozen=True)
class Took:
    """By the clock, and by the processors of all its processes."""

    seconds: float
    cost: Cost

    @property
    def detail(self) -> dict[str, Any]:
        cost = self.cost
        return {"seconds": self.seconds, "cpu_seconds": round(cost.cpu_seconds, 1), "peak_gb": round(cost.peak_gb, 2)}


def took(settings: Settings, name: str, *words: str) -> Took:
    """Runs a job of spark_jobs/ to its end."""
    begun, cost = time.perf_counter(), Cost()
    job = subprocess.Popen(
        [sys.executable, str(JOBS / f"{name}.py"), *words],
        env={**os.environ, **settings.to_env()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with measured(job.pid, cost):
        said = job.communicate()[1]
    if job.returncode:
        raise RuntimeError(f"{name} ended with {job.returncode}: {said[-2000:]}")
    return Took(round(time.perf_counter() - begun, 1), cost)
