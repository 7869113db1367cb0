"""A newcomer does what README says, and it is so."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from .conftest import PENSTOCK, RunningStack, eventually

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line and not line.startswith("#")
]
MAKES = [line for line in COMMANDS if line.startswith("make ")]
TOUR = [line for line in COMMANDS if line not in MAKES]
# The first epoch after a start waits for a JVM, on a busy machine a long one.
PATIENCE = 240.0


def run(stack: RunningStack, command: str) -> subprocess.CompletedProcess[str]:
    """The command as it stands, but for the ports and the venv of the stack under test."""
    here = command.replace(".venv/bin/penstock", str(PENSTOCK))
    for part, port in (("collector", "8090"), ("serve", "8091")):
        here = here.replace(f":{port}/", stack.url(part, "/").removeprefix("http://127.0.0.1"))
    return subprocess.run(
        shlex.split(here), env=stack.environ, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("command", MAKES)
def test_the_two_commands_are_targets_of_the_makefile(command: str) -> None:
    assert subprocess.run([*command.split(), "--dry-run"], cwd=ROOT, capture_output=True, check=False).returncode == 0


def test_the_tour_ends_with_the_newcomers_own_event_in_the_answer(stack: RunningStack) -> None:
    sent, ledger, query, curl, status, doctor = TOUR
    assert '"accepted":1' in run(stack, sent).stdout.replace(" ", "")
    assert eventually(lambda: "hello" in run(stack, query).stdout, PATIENCE), run(stack, query)
    assert "tour.example" in run(stack, curl).stdout
    assert eventually(lambda: "web.events" in run(stack, ledger).stdout, PATIENCE), run(stack, ledger)
    assert "broker" in run(stack, status).stdout
    # On a home that runs, its own ports are no conflict.
    assert "java" in run(stack, doctor).stdout


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_file_that_readme_points_to_is_there(path: str) -> None:
    assert (ROOT / path).exists()
