"""A figure judges itself by its goal, and says how busy the machine was."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from penstock.ops import bench
from penstock.ops.bench import Figure, alerts, load, memory, names
from penstock.ops.cli import application
from penstock.ops.rig import Rig
from penstock.refusal import Refusal
from penstock.settings import Settings

FAKE = """
from penstock.ops.bench import Figure
def run(quick):
    yield Figure("fake", "seconds", 9.0 if quick else 99.0, goal="<= 10 s")
    yield Figure("fake", "rows", 1.0, gate_ok={right})
"""


@pytest.mark.parametrize(
    ("ours", "peer", "goal", "met"),
    [
        (29.0, None, "<= 30 s", True),
        (31.0, None, "<= 30 s", False),
        (5.0, None, ">= 5", True),
        (10.0, 4.0, ">= 2x", True),
        (10.0, 8.0, ">= 2x", False),
        (10.0, None, None, None),
    ],
)
def test_a_goal_is_met_by_number_or_by_ratio(
    ours: float, peer: float | None, goal: str | None, met: bool | None
) -> None:
    assert Figure("startup", "seconds", ours, peer=peer, goal=goal).as_dict()["met"] is met


def test_a_figure_has_the_promised_fields_in_their_order() -> None:
    told = Figure("startup", "seconds", 1.0).as_dict()
    assert list(told) == ["name", "figure", "ours", "peer", "ratio", "goal", "met", "gate_ok", "load", "detail"]


def test_an_unknown_benchmark_is_refused_with_the_list() -> None:
    with pytest.raises(Refusal, match="Choose one of"):
        load("no_such")


def test_every_benchmark_module_can_be_run() -> None:
    assert all(callable(load(name)) for name in names())


def ran(right: bool, folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Result:
    """`penstock bench` with a benchmark of two figures among the others."""
    (folder / "fake.py").write_text(FAKE.format(right=right))
    monkeypatch.setattr(bench, "__path__", [*bench.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, "penstock.ops.bench.fake", raising=False)
    return CliRunner().invoke(application(), ["bench", "fake", *options])


def test_each_figure_is_one_line_of_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [json.loads(line) for line in ran(True, tmp_path, monkeypatch, "--json").stdout.splitlines()]
    assert [(one["figure"], one["ours"], one["met"], one["gate_ok"]) for one in told] == [
        ("seconds", 99.0, False, True), ("rows", 1.0, None, True),
    ]  # fmt: skip


def test_quick_reaches_the_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "seconds 9, goal <= 10 s: met" in ran(True, tmp_path, monkeypatch, "--quick").stdout


@pytest.mark.parametrize(("right", "status"), [(True, 0), (False, 1)], ids=["a goal missed", "a result wrong"])
def test_only_a_wrong_result_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: bool, status: int
) -> None:
    told = ran(right, tmp_path, monkeypatch)
    assert told.exit_code == status and ("RESULTS WRONG" in told.stdout) == (not right)


def test_what_an_ended_child_used_is_counted_with_its_parent() -> None:
    burn = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.5: pass'; echo ended; sleep 60"
    with subprocess.Popen(["sh", "-c", burn], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None and shell.stdout.readline() == "ended\n"
        used = memory.cpu(shell.pid)
        for each in reversed(memory.family(shell.pid)):
            each.kill()
    # The kernel counts in hundredths.
    assert used >= 0.45


def test_alerts_are_measured_by_code_whose_rule_is_urgent(tmp_path: Path) -> None:
    code = alerts.urgent(Rig(Settings(home=tmp_path, lake=str(tmp_path), kafka="")))
    rules = (code / "domains/web/rules.py").read_text()
    assert alerts.URGENT in rules
    assert alerts.SOME in rules
