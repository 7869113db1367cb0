"""The process that owns all others: supervisord, holding the home's lock, with nothing left behind when it ends."""

import ctypes
import fcntl
import os
import signal
import sys
import time
from contextlib import suppress
from threading import Thread
from typing import IO

import psutil
from supervisor import supervisord

from penstock.ops.stack import orphans
from penstock.ops.stack.home import TAKEN, Home, open_home
from penstock.settings import Settings

# From <linux/prctl.h>.
PARENT_DEATH_SIGNAL, CHILD_SUBREAPER = 1, 36
# Names the process without which nobody wants this stack: of the tests, or the measurement, that began it.
OWNER = "PENSTOCK_OWNER"


def main() -> int:
    home = open_home(Settings.from_env().home)
    lock = home.lock.open("w")
    if not taken(lock):
        return TAKEN
    own(parent=int(sys.argv[1]))
    if owner := int(os.environ.get(OWNER, "0")):
        Thread(target=end_after, args=(owner,), daemon=True).start()
    try:
        supervisord.main(["--nodaemon", "--configuration", str(home.run / "supervisord.conf")])
    finally:
        sweep(home)
    return 0


def taken(lock: IO[str]) -> bool:
    """Takes the home. A `penstock status` that just looks holds it for an instant, so one second of patience."""
    for _ in range(20):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.05)
        else:
            return True
    return False


def own(parent: int) -> None:
    """Descendants that lose their parent become ours. A `parent` (0: none) that dies takes us with it."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    libc.prctl(CHILD_SUBREAPER, 1)
    if parent:
        libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGTERM)
        if os.getppid() != parent:
            sys.exit("the command that started this supervisor is gone")


def end_after(owner: int) -> None:
    """Ends this stack when a process is gone, however it went. A detached stack has no parent to die with."""
    with suppress(psutil.NoSuchProcess):
        psutil.Process(owner).wait()
    os.kill(os.getpid(), signal.SIGTERM)


def sweep(home: Home) -> None:
    """Airflow's tasks and their JVMs have process groups of their own, so supervisord cannot stop them."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    orphans.stop(home.stack)


if __name__ == "__main__":
    sys.exit(main())
