"""A build does not wait for what Great Expectations can and no suite asks, nor does anybody look for garbage in it."""

import json
import os
import subprocess
import sys

import pytest

LOOKED = """
import gc, json, sys
from penstock.engine.suites import vocabulary
vocabulary()
loaded = [name for name in ("altair.vegalite", "scipy.stats._stats_py") if name in sys.modules]
import altair.vegalite
from scipy import stats
print(json.dumps([loaded, altair.Chart.__name__, round(stats.norm.cdf(0), 1)]))
print(json.dumps([gc.isenabled(), gc.get_freeze_count() > 100_000]))
"""
# Whoever starts it may have loaded Arrow, and a process is born with the pages of its parent.
PAGES = """
from ctypes import CDLL
CDLL(None).prctl(41, 0, 0, 0, 0)
import penstock, pyarrow
print(open("/proc/self/status").read())
"""


def test_charts_and_distributions_are_loaded_by_who_asks_for_them() -> None:
    told = subprocess.run([sys.executable, "-c", LOOKED], capture_output=True, text=True, check=True)
    loaded, garbage = map(json.loads, told.stdout.splitlines())
    assert loaded == [[], "Chart", 0.5]
    assert garbage == [True, True]


@pytest.mark.parametrize(("said", "enabled"), [({}, "0"), ({"MIMALLOC_ALLOW_THP": "1"}, "1")])
def test_memory_comes_in_small_pages_unless_somebody_wants_large_ones(said: dict[str, str], enabled: str) -> None:
    env = {name: value for name, value in os.environ.items() if name != "MIMALLOC_ALLOW_THP"} | said
    told = subprocess.run([sys.executable, "-c", PAGES], capture_output=True, text=True, check=True, env=env)
    assert f"THP_enabled:\t{enabled}" in told.stdout
