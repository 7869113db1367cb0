"""Without a browser its tests are left out, and nobody can miss it; where CI decides, they fail."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
SUITE = """
import pytest
from penstock.ops.load.browser import chromium
from penstock.refusal import Refusal

@pytest.fixture
def opened():
    with chromium() as browser:
        yield browser

def test_by_a_fixture(opened): pass
def test_itself():
    with chromium(): pass
def test_without(): pass
def test_another_refusal(): raise Refusal("no")
"""


def ran(folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A suite of its own under the hooks of ours, on a PATH where nothing is."""
    (folder / "test_suite.py").write_text(SUITE)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST"))}
    path = f"{TESTS}:{TESTS / 'factories'}"
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:schemathesis", "-p", "no:cacheprovider", folder],
        cwd=folder, env={**inherited, "PATH": str(folder), "PYTHONPATH": path, **environ},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_what_needs_a_browser_is_left_out_and_the_summary_says_so(tmp_path: Path) -> None:
    told = ran(tmp_path).stdout
    assert "1 failed, 1 passed, 2 skipped" in told and "NOT RUN: 2 tests in a browser" in told, told


def test_where_ci_decides_nothing_is_left_out(tmp_path: Path) -> None:
    assert "2 failed, 1 passed, 1 error" in ran(tmp_path, CI="true").stdout
