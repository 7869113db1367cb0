"""Event ids for those who sent none: UUIDv7, so that ids sort by the time they were given."""

import os
import time


def uuid7s(count: int) -> list[str]:
    """Version 7 UUIDs (RFC 9562) of this millisecond, 74 random bits each."""
    moment = f"{time.time_ns() // 1_000_000:012x}"
    head = f"{moment[:8]}-{moment[8:]}-7"
    random = os.urandom(10 * count).hex()
    return [_id(head, random[at : at + 20]) for at in range(0, 20 * count, 20)]


def _id(head: str, random: str) -> str:
    return f"{head}{random[:3]}-{'89ab'[int(random[3], 16) & 3]}{random[4:7]}-{random[7:19]}"
