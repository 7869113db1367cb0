"""kill -9 is a normal way to stop the streaming driver, and the broker under it."""

import os
from pathlib import Path

import pytest
from faults.killing import play, settings_of, verdict

from penstock.ops.load.mortal import MortalBroker

# In full: 1,000 kills in shards. One of them again: PYTHONPATH=tests python -m faults.killing --seed SEED --kills 20
FULL = bool(os.environ.get("PENSTOCK_FULL"))
SEEDS, KILLS = (range(50), 20) if FULL else ([41], 2)


# A kill is a driver's start, some epochs and its end: half a minute, on a busy machine twice that.
@pytest.mark.timeout(2400 if FULL else 400)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_is_right_after_the_driver_and_the_broker_were_killed(tmp_path: Path, seed: int) -> None:
    log = MortalBroker(tmp_path / "broker").ready()
    try:
        (tmp_path / "home").mkdir()
        assert verdict(play(settings_of(tmp_path / "home", log), log, seed, KILLS)) == []
    finally:
        log.kill()
