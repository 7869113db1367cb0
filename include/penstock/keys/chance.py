"""Random bytes of the system, drawn many at a time: a question for each record took longer than sealing it."""

import os
import threading
from io import BytesIO

DRAWN_BYTES = 4096


class Chance(threading.local):
    """No two threads, and no two processes, are given the same bytes."""

    def __init__(self) -> None:
        self._drawn = BytesIO()

    def draw(self, number: int) -> bytes:
        given = self._drawn.read(number)
        if len(given) < number:
            self._drawn = BytesIO(os.urandom(max(number, DRAWN_BYTES)))
            given = self._drawn.read(number)
        return given

    def forget(self) -> None:
        """What a process has drawn is not for its children."""
        self._drawn = BytesIO()


CHANCE = Chance()
os.register_at_fork(after_in_child=CHANCE.forget)
