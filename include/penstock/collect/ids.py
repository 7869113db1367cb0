"""Event ids for those who sent none: UUIDv7, so that ids sort by the time they were given."""

import time

from penstock.keys.chance import CHANCE

LAST = (1 << 48) - 1


def uuid7s(count: int) -> list[str]:
    """Version 7 UUIDs (RFC 9562) of this millisecond: 74 random bits, of which the last 48 count on in a batch."""
    if not count:
        return []
    moment = f"{time.time_ns() // 1_000_000:012x}"
    random = int.from_bytes(CHANCE.draw(10), "big")
    first, second = random >> 68, (random >> 54) & 0x3FFF
    prefix = f"{moment[:8]}-{moment[8:]}-7{first:03x}-{0x8000 | second:04x}-"
    return [f"{prefix}{(random + number) & LAST:012x}" for number in range(count)]
