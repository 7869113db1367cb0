"""kill -9 in the middle of a rewind, and a driver that ends because its tables are about to change."""

import subprocess
import sys
from pathlib import Path

import pytest
from toy_lake import ToyLake, answers, fact

from penstock.engine.halting import halted
from penstock.engine.lease import LeaseTaken, take
from penstock.engine.pinning import take as pinned
from penstock.engine.rewind import rewind
from penstock.lake.rewinds import unfinished

TOY = Path(__file__).parents[2] / "toy"
DIES = """
import os, signal, sys
from penstock.engine import rewind
from penstock.lake.layout import Layout
from penstock.lake.restore_points import find
go, left = rewind.go, iter(range(int(sys.argv[2])))
def killed(*step):
    if next(left, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    go(*step)
rewind.go = killed
layout = Layout(sys.argv[1])
rewind.rewind(layout, find(layout, sys.argv[3]), "toy", "test", "to see")
"""
DRIVES = """
import pathlib, sys, time
from penstock.engine.lease import asked_to_end, leases_in, take
place, begun = leases_in(pathlib.Path(sys.argv[1])), time.time()
lease = take(place, "shape-toy.events-r1")
print("driving", flush=True)
while not asked_to_end(place, ["shape-toy.events-r1"], begun):
    time.sleep(0.05)
"""


def python(script: str, *words: object, **how: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", script, *map(str, words)]
    path = f"{TOY}:{Path(__file__).parents[3] / 'include'}"
    return subprocess.Popen(command, env={"PYTHONPATH": path}, text=True, **how)  # type: ignore[call-overload,no-any-return]


def test_a_rewind_that_was_killed_dead_is_ended_by_the_same_call(lake: ToyLake) -> None:
    then = answers(lake)
    point = pinned(lake.layout, "hand", "test", "a good moment")
    lake.epoch([fact("eve", 11)])
    assert python(DIES, lake.layout.root, 3, point.id).wait(120) == -9
    assert unfinished(lake.layout, "toy")
    rewind(lake.layout, point, "toy", "test", "to see")
    assert (answers(lake), unfinished(lake.layout, "toy")) == (then, None)


def test_a_driver_is_asked_to_end_and_its_lease_is_held_meanwhile(tmp_path: Path) -> None:
    driver = python(DRIVES, tmp_path, stdout=subprocess.PIPE)
    assert driver.stdout and driver.stdout.readline() == "driving\n"
    with halted(tmp_path, ["shape-toy.events-r1"]), pytest.raises(LeaseTaken):
        take(tmp_path / "run" / "leases", "shape-toy.events-r1")
    assert driver.wait(60) == 0
