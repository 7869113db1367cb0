"""A stack in the foreground of a terminal: it ends when the command ends, whatever ends the command."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console, Group, RenderableType
from rich.live import Live

from penstock.ops.stack import run, table
from penstock.ops.stack.run import Stack
from penstock.ops.stack.state import State, states

# A part that is not well by then has something that waiting does not mend.
PATIENCE = 300.0


class Stopping(BaseException):
    """Somebody asked this command to end. No Exception, so that nothing on the way takes it for an error."""


@contextmanager
def until_stopped() -> Iterator[None]:
    """Ctrl-C, SIGTERM and a closed terminal all end the block in the same way, once."""

    def ask(_number: int, _frame: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise Stopping

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for each in signals:
        signal.signal(each, ask)
    try:
        yield
    except Stopping:
        return


@contextmanager
def running(stack: Stack, screen: Console) -> Iterator[None]:
    """The block may end by itself, by a signal or by an error: no process is left behind."""
    try:
        with until_stopped():
            yield
    finally:
        begun = time.monotonic()
        run.stop(stack.home)
        screen.print(f"Stopped in {time.monotonic() - begun:.1f} s; no process is left.", highlight=False)


def until_well(stack: Stack, screen: Console, patience: float = PATIENCE) -> list[State]:
    """Watches until every part is well, the patience is over or the supervisor is gone; returns the last states."""
    return watch(stack, screen, lambda told, seconds: all(each.well for each in told) or seconds > patience)


def watch(
    stack: Stack,
    screen: Console,
    done: Callable[[list[State], float], bool] = lambda _told, _seconds: False,
    below: RenderableType = "",
) -> list[State]:
    """One look a second: a table that redraws itself on a terminal, a line for each part that is not well elsewhere."""
    begun = time.monotonic()
    with Live(console=screen, auto_refresh=False, transient=True) as live:
        while True:
            told, seconds = states(stack.home, stack.rows), time.monotonic() - begun
            if screen.is_terminal:
                live.update(Group(table.table(told, stack.home, seconds), below), refresh=True)
            else:
                stack.told = table.changes(stack.told, told, seconds, screen)
            if done(told, seconds) or stack.process.poll() is not None:
                return told
            time.sleep(1.0)
