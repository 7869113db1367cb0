"""Work that an epoch leaves behind for a thread: it is done before the next epoch commits, or the stream fails."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress


class Behind:
    """At most one piece of work. A crash loses it, so whoever leaves it can do it again from what is committed."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "behind")
        self._left: Future[None] | None = None

    def leave(self, work: Callable[[], None]) -> None:
        self.settle()
        self._left = self._thread.submit(work)

    def settle(self) -> None:
        """Waits for it, and raises what it raised."""
        left, self._left = self._left, None
        if left is not None:
            left.result()

    def check(self) -> None:
        """Raises what it raised, without waiting: a stream with nothing to do must notice as well."""
        if self._left is not None and self._left.done():
            self.settle()

    def drop(self) -> None:
        """Waits for it; what it raised was told before, or is found again."""
        with suppress(Exception):
            self.settle()
