"""A second clone on a machine that has set one up: this tree in a new folder, from warm download caches."""

import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from penstock.ops.airflow.environment import PROJECT
from penstock.ops.bench import Figure


def run(quick: bool) -> Iterator[Figure]:
    """There is no quick variant: half a set-up says nothing."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as name:
        clone = Path(name, "clone")
        copied(clone)
        for what, goal in (("a second clone is set up", "<= 60 s"), ("nothing is left to do", "<= 1 s")):
            begun, used = time.monotonic(), cpu()
            done = subprocess.run(
                ["make", "setup"], cwd=clone, env=fresh(), capture_output=True, text=True, check=False
            )
            seconds = round(time.monotonic() - begun, 1)
            archives = [clone / ".venv" / "share" / "penstock" / name for name in ("spark.jsa", "broker.jsa")]
            yield Figure(
                "setup",
                f"seconds until {what}",
                seconds,
                goal=goal,
                gate_ok=done.returncode == 0 and all(archive.is_file() for archive in archives),
                detail={
                    "cpu seconds": round(cpu() - used, 1),
                    "said": done.stdout.splitlines() + done.stderr.splitlines(),
                },
            )


def copied(clone: Path) -> None:
    """What git knows of this tree, as it is now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    for file in listed.rstrip("\0").split("\0"):
        if (PROJECT / file).is_file():
            (clone / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / file, clone / file)


def fresh() -> dict[str, str]:
    """The environment without this run's own set-up."""
    return {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS")}


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
