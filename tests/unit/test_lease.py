"""A lease is held by one process, and the kernel frees it however that process ends."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Timer

import pytest

from penstock.engine.lease import LeaseTaken, take, turn

HOLDER = "import sys; from pathlib import Path; from penstock.engine.lease import take; "
HOLDER += "lease = take(Path(sys.argv[1]), 'job'); print('held', flush=True); sys.stdin.read()"


def test_a_second_driver_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(LeaseTaken, match=f"process {holder.pid}"):
            take(tmp_path, "job")
        holder.kill()
    assert take(tmp_path, "job").writable()


HOLDING = """
import sys, time
from pathlib import Path
from penstock.engine.lease import turn
with turn(Path(sys.argv[1]), "build"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has its turn."""
    command = [sys.executable, "-c", HOLDING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_who_comes_second_waits_until_the_first_is_killed(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    killed = Event()
    Timer(1.0, lambda: (holder.kill(), killed.set())).start()
    with turn(tmp_path, "build"):
        assert killed.wait(5)


def test_a_holder_that_was_stopped_is_passed_by(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGSTOP)
    with turn(tmp_path, "build", silent=1):
        assert holder.poll() is None
