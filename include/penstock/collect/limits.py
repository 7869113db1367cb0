"""What the edge bears from outside. Every number that bounds a request has its home here."""

from dataclasses import dataclass
from functools import cached_property

KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True)
class Limits:
    body: int = 1 * MIB
    inflated: int = 4 * MIB
    events: int = 500
    # The log's own limit is 1 MiB for key, headers and value together.
    event: int = 960 * KIB
    depth: int = 32
    keys: int = 500
    string: int = 32 * KIB
    # Commas, brackets or a quarter of the quotes of a body: 21 bytes of parsed lists for each byte of `[],` otherwise.
    values: int = 250_000
    header_bytes: int = 16 * KIB
    id_length: int = 128
    key_bytes: int = 512
    # A request that is not complete by then is cut off (slowloris).
    header_seconds: float = 10
    body_seconds: float = 30
    connections_per_address: int = 1024
    connections: int = 8192
    spool: int = 1024 * MIB
    subscribers: int = 64
    # Most that `Prefer: wait=N` may ask for.
    wait_seconds: float = 60

    @cached_property
    def small(self) -> int:
        """In so many bytes there is no long string, and no room for too many keys: each takes five, as in `"":1,`."""
        return min(self.string, self.event, 5 * self.keys)
