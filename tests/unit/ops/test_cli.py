"""The command line: every command is documented, speaks JSON, and refuses in one sentence."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from penstock.ops.cli import application

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
PENSTOCK = Path(sys.prefix, "bin", "penstock")


def commands(group: Any, prefix: str = "") -> dict[str, Any]:
    """Every command by the words that call it; a group's are `group command`."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        inner = hasattr(command, "commands")
        found |= commands(command, f"{prefix}{name} ") if inner else {f"{prefix}{name}": command}
    return found


COMMANDS = commands(get_command(application()))


def section(name: str) -> str:
    """What the page says of one command."""
    _, heading, rest = PAGE.partition(f"\n## `penstock {name}")
    return heading + rest.partition("\n## ")[0]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_option_is_documented(name: str) -> None:
    options = [option for each in COMMANDS[name].params for option in each.opts if option.startswith("--")]
    missing = [option for option in options if f"`{option}" not in section(name)]
    assert section(name) and not missing, f"docs/cli.md lacks {missing or name}"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_speaks_json(name: str) -> None:
    assert any("--json" in each.opts for each in COMMANDS[name].params)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_whoever_names_a_command_gets_it_with_all_its_options(name: str) -> None:
    """Only the module of that name is loaded then, where there is one."""
    asked = commands(get_command(application(name.split()[0])))
    assert [each.name for each in asked[name].params] == [each.name for each in COMMANDS[name].params]


def test_the_state_of_the_stack_is_told_without_what_reads_the_lake() -> None:
    asked = (
        "import sys; from penstock.ops.cli import application; application('status'); print('pyarrow' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert told == "False\n"


@pytest.mark.parametrize("status", ["0", "1", "2", "3", "4"])
def test_every_exit_status_is_documented(status: str) -> None:
    assert f"| {status} |" in PAGE


@pytest.mark.parametrize(
    ("environ", "arguments", "status", "says"),
    [
        ({"PENSTOCK_AIRFLOW_PORT": "web"}, ["status"], 3, "PENSTOCK_AIRFLOW_PORT"),
        ({}, ["logs", "no-such-part"], 3, "Choose one of"),
        ({}, ["bench", "no-such-bench"], 3, "Choose one of"),
        ({}, ["status"], 4, "penstock up"),
        ({}, ["no-such-command"], 2, "No such command"),
        ({}, ["compare", "web", "r1", "r9"], 3, "web has no release 'r9'; there are: r1."),
        ({"PENSTOCK_HOME": "/proc/penstock"}, ["up"], 3, "Set PENSTOCK_HOME"),
    ],
    ids=["port", "part", "bench", "not running", "usage", "release", "read-only"],
)
def test_each_refusal_has_its_status_and_its_way_out(
    tmp_path: Path, environ: dict[str, str], arguments: list[str], status: int, says: str
) -> None:
    told = subprocess.run(
        [PENSTOCK, *arguments],
        env={**os.environ, "PENSTOCK_HOME": str(tmp_path / "home"), **environ},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert told.returncode == status, told.stderr
    # Nor does a library say what it thinks of the end.
    assert says in told.stderr and not {"Traceback", "leaked"} & {*told.stderr.split()}
