"""The supervisor over toy parts: what is killed comes back, and nothing outlives a stack, however it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from standing import eventually

from penstock.ops.stack import orphans, run
from penstock.ops.stack.home import open_home
from penstock.ops.stack.parts import Part
from penstock.ops.stack.state import State, states
from penstock.ops.stack.supervise import OWNER
from penstock.refusal import Refusal
from penstock.settings import Settings

# Has a child in a session of its own, as an Airflow task has its JVM. When told to, both ignore every polite request.
TOY = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if "stubborn" in sys.argv else ():
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
time.sleep(600)
"""

FOREGROUND = """
from rich.console import Console
from penstock.ops.stack import foreground, run
from penstock.settings import Settings
from toy_rows import parts
stack = run.start(Settings.from_env(), detach=False, rows=parts())
with foreground.running(stack, Console()):
    foreground.watch(stack, Console())
"""


def rows(*manner: str) -> list[Part]:
    return [Part("toy", "toy_part", lambda _started: True, manner)]


@pytest.fixture
def toy(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings of a home whose only part is the toy."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "toy_part.py").write_text(TOY)
    (tmp_path / "code" / "toy_rows.py").write_text(
        "from penstock.ops.stack.parts import Part\n"
        "def parts(): return [Part('toy', 'toy_part', lambda started: True)]\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "code"))
    toy = replace(settings, home=tmp_path / "home")
    yield toy
    run.stop(open_home(toy.home))


def well(settings: Settings) -> State | None:
    (told,) = states(open_home(settings.home), rows())
    return told if told.well else None


def started(settings: Settings, *manner: str) -> run.Stack:
    stack = run.start(settings, detach=True, rows=rows(*manner))
    assert eventually(lambda: well(settings) is not None, 20)
    return stack


def test_a_killed_part_is_started_again(toy: Settings) -> None:
    started(toy)
    before = well(toy)
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    assert eventually(lambda: (now := well(toy)) is not None and now.pid != before.pid, 15)


def test_down_leaves_no_process_even_of_those_that_ignore_it(toy: Settings) -> None:
    stack = started(toy, "stubborn")
    begun = time.monotonic()
    run.stop(stack.home)
    assert orphans.processes(stack.home.stack) == []
    assert time.monotonic() - begun < 8


def test_the_next_start_recovers_what_a_killed_supervisor_left(toy: Settings) -> None:
    first = started(toy)
    os.kill(run.supervisor(first.home), signal.SIGKILL)
    first.process.wait()
    left = {each.pid for each in orphans.processes(first.home.stack)}
    second = started(toy)
    assert second.recovered == len(left) == 2
    assert left.isdisjoint(each.pid for each in orphans.processes(first.home.stack))


def test_a_second_start_is_refused_and_harms_nothing(toy: Settings) -> None:
    started(toy)
    before = well(toy)
    with pytest.raises(Refusal, match="already runs"):
        run.start(toy, detach=True, rows=rows())
    now = well(toy)
    assert now is not None and before is not None and now.pid == before.pid


def test_of_two_starts_at_once_one_wins_and_the_other_harms_nothing(toy: Settings) -> None:
    def start(_: int) -> bool:
        try:
            run.start(toy, detach=True, rows=rows())
        except Refusal:
            return False
        return True

    with ThreadPoolExecutor(2) as both:
        assert sorted(both.map(start, range(2))) == [False, True]
    assert eventually(lambda: well(toy) is not None, 20)


def test_a_detached_stack_ends_with_its_owner(toy: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as owner:
        monkeypatch.setenv(OWNER, str(owner.pid))
        stack = started(toy)
        owner.kill()
    assert eventually(lambda: orphans.processes(stack.home.stack) == [], 20)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda s: s.name)
def test_whatever_ends_the_foreground_ends_all(toy: Settings, number: signal.Signals) -> None:
    environ = {**os.environ, **toy.to_env()}
    command = subprocess.Popen([sys.executable, "-c", FOREGROUND], env=environ, stdout=subprocess.PIPE, text=True)
    assert eventually(lambda: (toy.home / "home.json").is_file() and well(toy) is not None, 20)
    command.send_signal(number)
    said, _ = command.communicate(timeout=20)
    assert eventually(lambda: orphans.processes(open_home(toy.home).stack) == [], 10)
    if number != signal.SIGKILL:
        assert command.returncode == 0 and "no process is left" in said
