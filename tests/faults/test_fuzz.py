"""The decode path under a fuzzer that sees which branches it takes: no bytes lose an event or break a limit."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
# In full: 10 million. One shard again: PYTHONPATH=tests:tests/factories python -m faults.fuzzing --seed SEED
SEEDS, RUNS = (range(10), 1_000_000) if os.environ.get("PENSTOCK_FULL") else ([7], 20_000)


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris has wheels for Linux on x86_64 only")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_bytes_break_the_law_of_the_decode_path(seed: int) -> None:
    command = [sys.executable, "-m", "faults.fuzzing", "--seed", str(seed), "--runs", str(RUNS)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS), str(TESTS / "factories")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert re.search(rf"^Done {RUNS} runs", done.stderr, re.MULTILINE)
