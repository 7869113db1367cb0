"""Random bytes of the system, drawn many at a time: a question for each record took longer than sealing it."""

import os
import threading

DRAWN_BYTES = 4096


class Chance(threading.local):
    """No two threads, and no two processes, are given the same bytes."""

    def __init__(self) -> None:
        self._drawn = b""
        self._given = 0

    def draw(self, number: int) -> bytes:
        if self._given + number > len(self._drawn):
            self._drawn, self._given = os.urandom(max(number, DRAWN_BYTES)), 0
        begin = self._given
        self._given += number
        return self._drawn[begin : self._given]

    def forget(self) -> None:
        """What a process has drawn is not for its children."""
        self._drawn, self._given = b"", 0


CHANCE = Chance()
os.register_at_fork(after_in_child=CHANCE.forget)
