"""A build does not wait for what Great Expectations can and no suite asks."""

import json
import subprocess
import sys

LOOKED = """
import json, sys
from penstock.engine.suites import vocabulary
vocabulary()
loaded = [name for name in ("altair.vegalite", "scipy.stats._stats_py") if name in sys.modules]
import altair.vegalite
from scipy import stats
print(json.dumps([loaded, altair.Chart.__name__, round(stats.norm.cdf(0), 1)]))
"""


def test_charts_and_distributions_are_loaded_by_who_asks_for_them() -> None:
    told = subprocess.run([sys.executable, "-c", LOOKED], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout) == [[], "Chart", 0.5]
