"""A build does not wait for what Great Expectations can and no suite asks, nor does anybody look for garbage in it."""

import json
import subprocess
import sys

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


def test_charts_and_distributions_are_loaded_by_who_asks_for_them() -> None:
    told = subprocess.run([sys.executable, "-c", LOOKED], capture_output=True, text=True, check=True)
    loaded, garbage = map(json.loads, told.stdout.splitlines())
    assert loaded == [[], "Chart", 0.5]
    assert garbage == [True, True]
