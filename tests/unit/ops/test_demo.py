"""The demo's verdict: what each stage has moved, and what it takes to be well."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from receivers import serving
from typer.testing import CliRunner

from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.ops.cli import application
from penstock.ops.demo import stages, tour
from penstock.ops.demo.stages import Stage
from penstock.ops.demo.tour import Verdict
from penstock.ops.stack import run
from penstock.ops.stack.home import open_home
from penstock.ops.stack.run import Stack
from penstock.settings import Settings

BEFORE = [Stage(name, 10, "") for name in ("collected", "archived", "shaped", "answered", "ledger", "orchestrated")]
MOVED = [replace(each, moved=each.moved + 5) for each in BEFORE]


def but(place: int, **said: int) -> list[Stage]:
    """All stages moved, and one of them is otherwise."""
    return [replace(each, **said) if number == place else each for number, each in enumerate(MOVED)]


@pytest.fixture
def stack(settings: Settings) -> Iterator[Stack]:
    """A stack whose supervisor is a process that does nothing."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield Stack(open_home(settings.home), [], process, recovered=0)
        process.kill()


def ended(stack: Stack) -> Stack:
    stack.process.kill()
    stack.process.wait()
    return stack


def test_all_that_moved_without_a_fault_is_well(stack: Stack) -> None:
    verdict = tour.judge(BEFORE, MOVED, stack, 0)
    assert verdict.well and [each.moved for each in verdict.stages] == [5] * len(BEFORE)


@pytest.mark.parametrize("place", range(len(BEFORE)), ids=[each.name for each in BEFORE])
def test_one_stage_that_moved_nothing_is_not_well(stack: Stack, place: int) -> None:
    assert not tour.judge(BEFORE, but(place, moved=10), stack, 0).well


def test_a_stage_that_stopped_answering_is_not_well(stack: Stack) -> None:
    verdict = tour.judge(BEFORE, but(3, moved=0), stack, 0)
    assert not verdict.well and verdict.stages[3].moved == 0


def test_one_stage_with_a_new_fault_is_not_well(stack: Stack) -> None:
    assert not tour.judge(BEFORE, but(5, wrong=1), stack, 0).well


def test_a_fault_of_before_is_not_this_demos(stack: Stack) -> None:
    before = [replace(each, wrong=1) for each in BEFORE]
    assert tour.judge(before, but(5, wrong=1), stack, 0).well


def test_a_dead_supervisor_is_not_well(stack: Stack) -> None:
    assert not tour.judge(BEFORE, MOVED, ended(stack), 0).well


@pytest.mark.parametrize(
    ("found", "alive", "status"),
    [(MOVED, True, 0), (but(0, moved=10), True, 1), (but(5, wrong=1), True, 1), (MOVED, False, 1)],
    ids=["well", "one moved nothing", "one is wrong", "no supervisor"],
)
def test_the_commands_status_is_the_verdict(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, found: list[Stage], alive: bool, status: int
) -> None:
    """The verdict as the tour gives it, without the minutes before it."""

    def short(stack: Stack, *_: object) -> Verdict:
        return tour.judge(BEFORE, found, stack if alive else ended(stack), 0)

    monkeypatch.setattr(run, "start", lambda *_, **__: stack)
    monkeypatch.setattr(tour, "tour", short)
    told = CliRunner().invoke(application(), ["demo", "--for", "1", "--json"])
    assert told.exit_code == status, told.output


def test_where_nothing_runs_no_stage_has_moved_anything(settings: Settings) -> None:
    # Ports at which nobody listens.
    silent = replace(settings, collector_port=9, serve_port=9, airflow_port=9)
    assert {each.moved for each in stages.look(silent)} == {0}


def test_the_collectors_counter_is_read_over_all_sources(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text(
        'penstock_accepted_total{source="a"} 2.0\npenstock_accepted_total{source="b"} 3.0\npenstock_other 9\n'
    )
    files = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), files)) as port:
        assert stages.collected(replace(settings, collector_port=port)).moved == 5


def test_of_silver_only_facts_have_moved(settings: Settings) -> None:
    rows = pa.table({"disposition": ["fact", "rejected", "fact", "duplicate"]})
    write_deltalake(Layout(settings.lake).silver(FIRST_RELEASE, "web.events"), rows)
    told = stages.shaped(settings)
    assert (told.moved, told.told) == (2, "2 facts, 2 rejected or duplicate")


def dag_run(dag: str, state: str) -> dict[str, Any]:
    return {"dag_id": dag, "state": state}


@pytest.mark.parametrize(
    ("newest_first", "wrong"),
    [(["failed", "success"], 1), (["success", "failed"], 0)],
    ids=["failed since", "has succeeded since"],
)
def test_a_dag_is_wrong_while_its_last_run_failed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, newest_first: list[str], wrong: int
) -> None:
    runs = [dag_run("build_views", state) for state in newest_first]
    monkeypatch.setattr(stages, "dag_runs", lambda _settings: (7, runs))
    assert (stages.ran(settings).moved, stages.ran(settings).wrong) == (7, wrong)
