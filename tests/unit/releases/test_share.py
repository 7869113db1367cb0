"""A replay lets live streams go first, and a stream's compiler the stream."""

import os
import subprocess
import sys
import threading

from penstock.lake.session import compile_last, give_way

CHILD = "import threading, sys; threading.Thread(target=sys.stdin.read).start(); print('up', flush=True)"
# As the JVM names it, cut by Linux to 15 letters.
COMPILER = """
import sys, threading
def work():
    open(f"/proc/self/task/{threading.get_native_id()}/comm", "w").write("C2 CompilerThre")
    print("up", flush=True)
    sys.stdin.read()
threading.Thread(target=work).start()
"""


def test_every_thread_of_a_process_gives_way() -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        give_way(child.pid, 7)
        threads = [int(each) for each in os.listdir(f"/proc/{child.pid}/task")]  # noqa: PTH208
        assert (len(threads), {os.getpriority(os.PRIO_PROCESS, each) for each in threads}) == (2, {7})
        child.communicate(b"")
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == 0


def test_of_a_jvm_only_the_second_compiler_gives_way() -> None:
    with subprocess.Popen([sys.executable, "-c", COMPILER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        threads = sorted(int(each) for each in os.listdir(f"/proc/{child.pid}/task"))  # noqa: PTH208
        compile_last(child.pid)
        compile_last(child.pid)
        assert [os.getpriority(os.PRIO_PROCESS, each) for each in threads] == [0, 5]
        child.communicate(b"")
