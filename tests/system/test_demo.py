"""`penstock demo`, as a newcomer's first command: it ends by itself, and says that every stage moved data."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from standing import PENSTOCK, environment

from penstock.ops.stack import orphans
from penstock.ops.stack.home import open_home


@pytest.mark.skipif(not os.environ.get("PENSTOCK_FULL"), reason="minutes, with a stack of its own: make faults")
# A start, the minute itself, and the demo's own grace for the last epoch and the last build.
@pytest.mark.timeout(900)
def test_a_demo_of_a_minute_ends_well_and_leaves_no_process(tmp_path: Path) -> None:
    home = tmp_path / "home"
    told = subprocess.run(
        [PENSTOCK, "demo", "--for", "60", "--json"], env=environment(home), capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr
    verdict = json.loads(told.stdout)
    assert verdict["well"] and all(stage["moved"] > 0 for stage in verdict["stages"])
    assert orphans.processes(open_home(home).stack) == []
