"""kill -9 of a driver in the middle of epochs that tasks read from the log by themselves, at each of their steps.

Silver's are committed while Spark goes on: a process that dies leaves a checkpoint that is ahead of the table.
"""

import os
from pathlib import Path

import pytest
from faults.killing import EPOCH, Scene, overtaken, settings_of, verdict
from faults.points import LARGE, LATE

from penstock.ops.load.mortal import MortalBroker

FULL = bool(os.environ.get("PENSTOCK_FULL"))
STEPS = [*LARGE] if FULL else ["bronze's files are there", "silver is judged"]
# A driver commits one or two before it dies, and the last one has something to do.
EPOCHS = 14 if FULL else 6


# Without its JVM a driver ends its epoch and itself: a stop, for which Spark's own steps are cut (test_kill.py).
@pytest.mark.timeout(1200 if FULL else 400)
@pytest.mark.parametrize("whom", ["python", "both"] if FULL else ["both"])
def test_every_row_is_right_after_drivers_died_in_large_epochs(tmp_path: Path, whom: str) -> None:
    log = MortalBroker(tmp_path / "broker").ready()
    (tmp_path / "home").mkdir()
    try:
        scene = Scene(settings_of(tmp_path / "home", log), log, seed=29)
        scene.fill(EPOCHS * EPOCH)
        for step in STEPS:
            scene.burn(whom, step)
            assert step not in LATE or overtaken(scene.layout)
        scene.finish()
        assert verdict(scene) == []
    finally:
        log.kill()
