"""Event ids for those who sent none: UUIDv7, so that ids sort by the time they were given."""

import os
import threading
import time

from penstock.keys.chance import CHANCE

# The last three digits of ids that count on: written once, as writing a number took a fifteenth of an event.
TAILS = tuple(f"{number:03x}" for number in range(1 << 12))
# Of the digit that begins the fourth group two bits are random, and two say whose layout it is.
VARIANT = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))


class Ids(threading.local):
    """Version 7 UUIDs (RFC 9562): 73 random bits for each millisecond, in which the last 12 count on.

    No two threads and no two processes count on from the same.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._moment, self._prefix, self._next = 0, "", len(TAILS)

    def draw(self, count: int) -> list[str]:
        ids: list[str] = []
        while len(ids) < count:
            moment, missing = time.time_ns() // 1_000_000, count - len(ids)
            if moment != self._moment or self._next + missing > len(TAILS):
                # Also where not all would fit: those of a request are in order.
                self._begin(moment)
            prefix, begin = self._prefix, self._next
            tails = TAILS[begin : begin + missing]
            ids += [prefix + tail for tail in tails]
            self._next = begin + len(tails)
        return ids

    def _begin(self, moment: int) -> None:
        at, random = f"{moment:012x}", CHANCE.draw(10).hex()
        self._moment = moment
        self._prefix = f"{at[:8]}-{at[8:]}-7{random[:3]}-{VARIANT[random[3]]}{random[4:7]}-{random[7:16]}"
        # From the first half, so that half of them are left.
        self._next = int(random[16:19], 16) & 0x7FF


IDS = Ids()
os.register_at_fork(after_in_child=IDS.forget)
uuid7s = IDS.draw
