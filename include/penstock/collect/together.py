"""Posts that came in one turn of the event loop are taken in the next: what is looked up for one is for all of them."""

import asyncio
from collections import deque
from typing import Protocol

from penstock.collect.accepting import Accepting


class Post(Protocol):
    """A post whose body is complete."""

    def begin(self, body: bytes) -> None: ...


class Together:
    """Those of one collector."""

    def __init__(self, accepting: Accepting) -> None:
        self._accepting = accepting
        self._came: deque[tuple[Post, bytes]] = deque()

    def take(self, post: Post, body: bytes, loop: asyncio.AbstractEventLoop) -> None:
        if not self._came:
            loop.call_soon(self._begin, loop)
        self._came.append((post, body))

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        came = self._came
        try:
            # Each was there before this looks for erasures.
            with self._accepting.at_once():
                while came:
                    post, body = came.popleft()
                    post.begin(body)
        finally:
            # One that failed for good does not take the others with it.
            if came:
                loop.call_soon(self._begin, loop)
