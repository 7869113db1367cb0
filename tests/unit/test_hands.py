"""Processes of a job's own: what they make comes back, what fails is told, and none outlives its job."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import psutil
import pytest

from penstock.lake.hands import Hands, hands

JOB = """
import os, sys, time
from penstock.lake.hands import hands
if __name__ == "__main__":
    with hands(2) as own:
        print(own.made(os.getpid), flush=True)
        own.made(lambda: time.sleep(600))
"""
# Of no file, which each hand would import as well.
AHEAD = """
import sys
from penstock.engine.releasing import NEEDED
from penstock.lake.hands import ahead, hands
ahead(NEEDED)
with hands(1) as own:
    print([*NEEDED] == own.made(lambda: [name for name in NEEDED if name in sys.modules]))
"""
PATIENCE = 20.0


@pytest.fixture(scope="module")
def two() -> Iterator[Hands]:
    with hands(2) as own:
        yield own


def test_the_same_is_made_of_each_in_their_order_by_others(two: Hands) -> None:
    told = [*two.each(lambda number: (number, os.getpid()), range(50))]
    assert [number for number, _ in told] == [*range(50)]
    assert os.getpid() not in {process for _, process in told}


def test_what_fails_is_told(two: Hands) -> None:
    def refuse() -> None:
        raise ValueError("not so")

    with pytest.raises(ValueError, match="not so"):
        two.made(refuse)
    assert two.made(lambda: "and they go on") == "and they go on"


def test_nobody_waits_for_one_that_was_killed() -> None:
    with hands(1) as own, pytest.raises(BrokenProcessPool):
        own.made(lambda: os.kill(os.getpid(), signal.SIGKILL))


def test_they_end_with_a_job_that_was_killed(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB)
    job = subprocess.Popen([sys.executable, str(tmp_path / "job.py")], stdout=subprocess.PIPE, text=True)
    assert job.stdout is not None
    assert psutil.pid_exists(int(job.stdout.readline()))
    family = psutil.Process(job.pid).children(recursive=True)
    job.kill()
    job.wait()
    _, left = psutil.wait_procs(family, PATIENCE)
    assert left == []


def test_what_is_asked_for_ahead_is_there_when_a_hand_begins() -> None:
    # A name that is wrong is never told by what they are forked of.
    told = subprocess.run([sys.executable, "-c", AHEAD], capture_output=True, text=True, check=True)
    assert told.stdout == "True\n"
