"""Posts that came in one turn of the event loop are taken in the next: what is looked up for one is for all of them."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager

# How a post begins whose body is complete.
Begin = Callable[[bytes], None]


class Together:
    """Those of one collector. `at_once`: in which one look for erasures is enough."""

    def __init__(self, at_once: Callable[[], AbstractContextManager[None]]) -> None:
        self._at_once = at_once
        self._came: deque[tuple[Begin, bytes]] = deque()

    def take(self, begin: Begin, body: bytes, loop: asyncio.AbstractEventLoop) -> None:
        if not self._came:
            loop.call_soon(self._begin, loop)
        self._came.append((begin, body))

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        came = self._came
        try:
            # Each was there before this looks for erasures.
            with self._at_once():
                while came:
                    begin, body = came.popleft()
                    begin(body)
        finally:
            # One that failed for good does not take the others with it.
            if came:
                loop.call_soon(self._begin, loop)
