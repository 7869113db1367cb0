"""Event ids for those who sent none: UUIDv7, so that ids sort by the time they were given."""

import time

from penstock.keys.chance import CHANCE

# The last three digits of the ids of a batch: written once, as writing a number took a fifteenth of an event.
TAILS = tuple(f"{number:03x}" for number in range(1 << 12))

# Of the digit that begins the fourth group two bits are random, and two say whose layout it is.
VARIANT = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))


def uuid7s(count: int) -> list[str]:
    """Version 7 UUIDs (RFC 9562) of this millisecond: 73 random bits, and the last 12 count on in a batch."""
    ids: list[str] = []
    while len(ids) < count:
        moment = f"{time.time_ns() // 1_000_000:012x}"
        random = CHANCE.draw(10).hex()
        prefix = f"{moment[:8]}-{moment[8:]}-7{random[:3]}-{VARIANT[random[3]]}{random[4:7]}-{random[7:16]}"
        begin = int(random[16:19], 16) & 0x7FF
        ids += [prefix + tail for tail in TAILS[begin : begin + count - len(ids)]]
    return ids
