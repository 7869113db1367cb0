"""Tickets: a websocket is opened with one that the same page was given a moment before, and only once."""

import secrets
import time

from penstock.serve.access.who import Who

SECONDS = 30.0
MOST = 10_000


class Tickets:
    def __init__(self) -> None:
        self._open: dict[str, tuple[float, Who]] = {}

    def give(self, who: Who) -> str:
        while len(self._open) >= MOST:
            self._open.pop(next(iter(self._open)))
        ticket = secrets.token_urlsafe(18)
        self._open[ticket] = time.monotonic() + SECONDS, who
        return ticket

    def spend(self, ticket: str) -> Who | None:
        """Who was given this ticket; nobody if it is old, or spent, or not ours."""
        until, who = self._open.pop(ticket, (0.0, None))
        return who if until >= time.monotonic() else None
