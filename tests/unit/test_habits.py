"""The habits of the house, kept by machines: style, types, and who may import whom."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HABITS = {
    "style": ["ruff", "check"],
    "format": ["ruff", "format", "--check"],
    "types": ["mypy"],
    "imports": ["lint-imports"],
}


@pytest.mark.parametrize("command", HABITS.values(), ids=HABITS)
def test_the_whole_tree_keeps_the_habit(command: list[str]) -> None:
    tool, *arguments = command
    told = subprocess.run(
        [Path(sys.prefix, "bin", tool), *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr


def test_no_module_is_longer_than_a_head_can_hold() -> None:
    sources = [
        path for folder in ("include", "dags", "spark_jobs", "expectations") for path in ROOT.glob(f"{folder}/**/*.py")
    ]
    assert [str(path) for path in sources if len(path.read_text().splitlines()) > 350] == []
