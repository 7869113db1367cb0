"""How the kernel gives memory to whoever loads Arrow, and how long that is kept."""

import os
import subprocess
import sys

import pytest

# Whoever starts it may have loaded Arrow, and a process is born with the pages of its parent.
PAGES = """
from ctypes import CDLL
PR_SET_THP_DISABLE = 41
CDLL(None).prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0)
import penstock, pyarrow
print(open("/proc/self/status").read())
"""


@pytest.mark.parametrize(("said", "enabled"), [({}, "0"), ({"MIMALLOC_ALLOW_THP": "1"}, "1")])
def test_memory_comes_in_small_pages_unless_somebody_wants_large_ones(said: dict[str, str], enabled: str) -> None:
    env = {name: value for name, value in os.environ.items() if name != "MIMALLOC_ALLOW_THP"} | said
    told = subprocess.run([sys.executable, "-c", PAGES], capture_output=True, text=True, check=True, env=env)
    assert f"THP_enabled:\t{enabled}" in told.stdout


@pytest.mark.parametrize(("said", "kept"), [({}, "1000"), ({"MIMALLOC_PURGE_DELAY": "10"}, "10")])
def test_memory_is_kept_for_longer_than_an_epoch_unless_somebody_says_so(said: dict[str, str], kept: str) -> None:
    env = {name: value for name, value in os.environ.items() if name != "MIMALLOC_PURGE_DELAY"} | said
    code = "import penstock, os; print(os.environ['MIMALLOC_PURGE_DELAY'])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True, env=env).strip() == kept
