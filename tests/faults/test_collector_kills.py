"""kill -9 of the collector and of the broker under load: every id that was answered with a 2xx is on the log.

The list of ids is the senders' own. In full each dies 1,000 times, in shards; any of them again by its line.
"""

import os
import sys
from pathlib import Path

import pytest

from penstock.ops.load.torment import Tormented, torment

SEEDS, KILLS = (range(100), 10) if os.environ.get("PENSTOCK_FULL") else ([1], 3)

# The planted bug: whoever appends is told at once that all is well.
TOO_EARLY = """
import asyncio, runpy
from penstock.log import producer
append = producer.Log.append
def early(self, records, placed=False):
    append(self, records, placed).add_done_callback(lambda done: done.exception())
    told = asyncio.get_running_loop().create_future()
    told.set_result([])
    return told
producer.Log.append = early
runpy.run_module("penstock.collect", run_name="__main__")
"""


def said(told: Tormented) -> Tormented:
    sys.stdout.write(told.line() + "\n")
    return told


@pytest.mark.parametrize("seed", SEEDS)
def test_every_acknowledged_event_survives_the_death_of_collector_and_broker(tmp_path: Path, seed: int) -> None:
    told = said(torment(tmp_path, seed, KILLS))
    assert told.missing == set(), told.line()


def test_the_same_test_catches_a_collector_that_acknowledges_too_early(tmp_path: Path) -> None:
    assert said(torment(tmp_path, 1, 1, [sys.executable, "-c", TOO_EARLY])).missing
