"""Starting and stopping a stack. Starting is recovering: what a killed supervisor left is found and stopped first."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

import psutil

from penstock.ops.stack import config, database, orphans, ports
from penstock.ops.stack import home as homes
from penstock.ops.stack.home import TAKEN, Home
from penstock.ops.stack.parts import Part, parts
from penstock.refusal import Refusal
from penstock.settings import Settings


@dataclass
class Stack:
    """A stack that was started: its supervisor is a child of this process, or on its own when detached."""

    home: Home
    rows: list[Part]
    process: subprocess.Popen[bytes]
    recovered: int
    # What was last told of each part, where only changes are printed.
    told: dict[str, str] = field(default_factory=dict)


def start(settings: Settings, *, detach: bool, rows: list[Part] | None = None) -> Stack:
    """Starts every part at once and returns before they are well. Refuses before anything is changed."""
    rows = parts(settings) if rows is None else rows
    # Until the supervisor holds the home, a second start would take it for an orphan and stop it.
    with homes.one_start_at_a_time(settings.home):
        home = homes.open_home(settings.home)
        if home.lives():
            raise already(home)
        homes.prepare(home)
        recovered = orphans.stop(home.stack)
        ports.check(rows)
        database.check(settings)
        with homes.readable_errors(home.folder):
            homes.write(home.run / "supervisord.conf", config.supervisord(home, rows))
            homes.write(home.settings, json.dumps(settings.to_env()))
        return Stack(home, rows, launch(settings, home, detach=detach), recovered)


def launch(settings: Settings, home: Home, *, detach: bool) -> subprocess.Popen[bytes]:
    """The supervisor as a process; returns when it holds the home."""
    with (home.logs / "supervisor.out").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "penstock.ops.stack.supervise", "0" if detach else str(os.getpid())],
            env=config.environ(settings, home),
            cwd=home.run,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Ctrl-C is for `penstock up`, which then stops the parts in their order.
            start_new_session=True,
        )
    while not home.lives():
        if process.poll() == TAKEN:
            raise already(home)
        if process.poll() is not None:
            raise Refusal(f"The supervisor did not start; {home.logs}/supervisor.out says why. Nothing runs.")
        time.sleep(0.05)
    return process


def already(home: Home) -> Refusal:
    return Refusal(
        f"A stack already runs in {home.folder} (supervisor {supervisor(home)}). "
        "See it with `penstock status`, stop it with `penstock down`, or set PENSTOCK_HOME to another folder."
    )


def supervisor(home: Home) -> int:
    """The pid of the supervisor that holds this home, 0 when none does."""
    if not home.lives():
        return 0
    candidates = orphans.processes(home.stack, "penstock.ops.stack.supervise")
    return candidates[0].pid if candidates else 0


def stop(home: Home, patience: float = 20.0) -> int:
    """Stops the stack of this home, however it was started; returns how many processes outlived their supervisor."""
    pid = supervisor(home)
    if pid:
        owner = psutil.Process(pid)
        owner.send_signal(signal.SIGTERM)
        _, alive = psutil.wait_procs([owner], timeout=patience)
        for each in alive:
            each.kill()
    return orphans.stop(home.stack)


def recorded(settings: Settings) -> Settings:
    """The settings with which the stack of this home was started; ours, when it has never been."""
    path = settings.home / "run" / "settings.json"
    return Settings.from_env(json.loads(path.read_text())) if path.is_file() else settings
