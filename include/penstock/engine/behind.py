"""Work that an epoch leaves behind for a thread: it is done before the next one needs it, or the stream fails."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress


class Behind:
    """At most one piece of work. A crash loses it, so whoever leaves it can do it again from what is committed."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "behind")
        self._left: Future[object] | None = None

    def leave(self, work: Callable[[], object]) -> None:
        self.settle()
        self._left = self._thread.submit(work)

    @property
    def idle(self) -> bool:
        """Whether all that was left is done, and well."""
        left = self._left
        return left is None or (left.done() and left.exception() is None)

    def settle(self) -> None:
        """Waits for it, and raises what it raised: to all who come, until it is dropped. None of them may go on."""
        if self._left is not None:
            self._left.result()
            self._left = None

    def check(self) -> None:
        """Raises what it raised, without waiting: a stream with nothing to do must notice as well."""
        left = self._left
        if left is not None and left.done():
            left.result()

    def drop(self) -> None:
        """Waits for it; what it raised was told before, or is found again."""
        with suppress(Exception):
            self.settle()
        self._left = None
