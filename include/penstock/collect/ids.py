"""Event ids for those who sent none: UUIDv7, so that ids sort by the time they were given."""

import time

from penstock.keys.chance import CHANCE

# The last three digits of the ids of a batch: written once, as writing a number took a fifteenth of an event.
TAILS = tuple(f"{number:03x}" for number in range(1 << 12))


def uuid7s(count: int) -> list[str]:
    """Version 7 UUIDs (RFC 9562) of this millisecond: 73 random bits, and the last 12 count on in a batch."""
    ids: list[str] = []
    while len(ids) < count:
        moment = f"{time.time_ns() // 1_000_000:012x}"
        random = int.from_bytes(CHANCE.draw(10), "big")
        first, second, third = random >> 68, (random >> 54) & 0x3FFF, (random >> 12) & 0xFFFFFFFFF
        prefix = f"{moment[:8]}-{moment[8:]}-7{first:03x}-{0x8000 | second:04x}-{third:09x}"
        begin = random & 0x7FF
        ids += [prefix + tail for tail in TAILS[begin : begin + count - len(ids)]]
    return ids
