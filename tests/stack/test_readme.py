"""A newcomer does what README says, and it is so."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from standing import PENSTOCK, RunningStack, eventually

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
# Those that stand in a line of text.
INLINE = re.findall(r"`(penstock [^`]+)`", README)
# What `penstock import access.log` finds: two pages, and a picture, which is no page view.
LINE = '203.0.113.7 - - [01/Oct/2026:10:00:0{second} +0000] "GET {path} HTTP/1.1" 200 512 "-" "Mozilla/5.0 Firefox"\n'
PATHS = ("/", "/boats", "/boat.png")
# The first epoch after a start waits for a JVM, on a busy machine a long one.
PATIENCE = 240.0


def run(stack: RunningStack, command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The command as it stands, but for the ports and the venv of the stack under test."""
    here = re.sub(r"^(\.venv/bin/)?penstock", str(PENSTOCK), command)
    for part, port in (("collector", "8090"), ("serve", "8091")):
        here = here.replace(f":{port}/", stack.url(part, "/").removeprefix("http://127.0.0.1"))
    return subprocess.run(
        shlex.split(here), env=stack.environ, cwd=folder, capture_output=True, text=True, timeout=120, check=False
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


def test_the_history_of_a_site_comes_in_as_readme_says(stack: RunningStack, tmp_path: Path) -> None:
    (tmp_path / "access.log").write_text("".join(LINE.format(second=n, path=path) for n, path in enumerate(PATHS)))
    # A command more in the text would be one that nothing runs.
    (command,) = INLINE
    told = run(stack, command, tmp_path)
    assert told.stdout == "2 events imported, 0 refused, 1 lines are no events\n", told
    again = run(stack, command, tmp_path)
    assert again.stdout.startswith("0 events imported"), again


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_file_that_readme_points_to_is_there(path: str) -> None:
    assert (ROOT / path).exists()
