"""A commit that rewrites rows of silver while a stream appends to it: tried beside the stream, else without it."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

# Inside, no stream appends: engine/halting.py. In a process without streams there is nothing to halt.
Quiet = Callable[[], AbstractContextManager[None]]
NOBODY: Quiet = nullcontext
TRIES = 2


def committed(step: Callable[[], object], quiet: Quiet) -> None:
    """Rows of days that nobody appends to are committed at once; those of today may be overtaken by every epoch."""
    for _ in range(TRIES):
        try:
            step()
            return
        except Exception as error:
            # Delta's own words for it, in whatever class the session wraps them.
            if "Concurrent" not in f"{type(error).__name__} {error}":
                raise
    with quiet():
        step()
