"""What may take long is made in a thread of its own, so that what stands beside it is told in time."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any

from penstock.serve.problems import Problem, or_problem


class Beside:
    """`make` is waited for so many seconds; after that there is what it made last, and it goes on."""

    def __init__(self, make: Callable[[], dict[str, Any]], name: str, seconds: float) -> None:
        self._make, self._seconds = make, seconds
        self._last = {"problem": Problem(503, f"The {name} is not read yet", "it is waited for").document()}
        self._making: Future[dict[str, Any]] | None = None
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=name)

    def latest(self) -> dict[str, Any]:
        with self._lock:
            self._making = self._making or self._threads.submit(or_problem, self._make)
            if wait({self._making}, self._seconds).done:
                self._last, self._making = self._making.result(), None
            return self._last
