"""Processes of a stack, found by the identity in their environment, never by their name."""

import os
import time

import psutil

MARK = "PENSTOCK_STACK"


def processes(stack: str, module: str = "") -> list[psutil.Process]:
    """Every process that carries this identity, but for the one that asks; if a module is named, those that run it."""
    return [each for each in psutil.process_iter() if each.pid != os.getpid() and _carries(each, stack, module)]


def _carries(process: psutil.Process, stack: str, module: str) -> bool:
    """Any look at a process may find it gone."""
    try:
        if process.environ().get(MARK) != stack or process.status() == psutil.STATUS_ZOMBIE:
            return False
        return not module or module in process.cmdline()
    except (psutil.Error, OSError):
        return False


def stop(stack: str, patience: float = 2.0) -> int:
    """Stops them all and returns how many there were; whoever ignores the request for `patience` seconds is killed.

    Looks again until none is left, as a process may start another while it is being stopped."""
    found: set[int] = set()
    deadline = time.monotonic() + patience
    while left := processes(stack):
        for each in left:
            first = each.pid not in found
            found.add(each.pid)
            if first or time.monotonic() > deadline:
                _signal(each, kill=time.monotonic() > deadline)
        psutil.wait_procs(left, timeout=0.1)
    return len(found)


def _signal(process: psutil.Process, *, kill: bool) -> None:
    try:
        process.kill() if kill else process.terminate()
    except psutil.NoSuchProcess:
        return
