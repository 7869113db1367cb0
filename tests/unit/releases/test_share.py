"""A replay lets live streams go first."""

import os
import subprocess
import sys
import threading

from penstock.lake.session import give_way

CHILD = "import threading, sys; threading.Thread(target=sys.stdin.read).start(); print('up', flush=True)"


def test_every_thread_of_a_process_gives_way() -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        give_way(child.pid, 7)
        threads = [int(each) for each in os.listdir(f"/proc/{child.pid}/task")]  # noqa: PTH208
        assert (len(threads), {os.getpriority(os.PRIO_PROCESS, each) for each in threads}) == (2, {7})
        child.communicate(b"")
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == 0
