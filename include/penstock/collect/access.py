"""Who may write: write keys, origins, rates and proxies, from `collector.toml` in the home. Without one: open.

trusted_proxies = ["10.0.0.0/8"]

[limits]
spool = 268435456

[keys.shop]
secret = "…"
sources = ["web.events"]
origins = ["https://shop.example"]
events_per_second = 2000
"""

import hmac
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from math import ceil
from pathlib import Path
from typing import Any

from penstock.collect.limits import Limits
from penstock.collect.refusal import Refusal
from penstock.settings import SettingError


@dataclass
class WriteKey:
    """One sender's right to write. The bucket holds one second's worth of events."""

    name: str = "open"
    secret: str = ""
    sources: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    events_per_second: float = float("inf")
    _left: float = field(default=0, init=False)
    _filled: float = field(default=0, init=False)

    def spend(self, events: int) -> None:
        """Takes events from the bucket, or says when there will be room. A large batch may overdraw it."""
        if self.events_per_second == float("inf"):
            return
        now = time.monotonic()
        self._left = min(self.events_per_second, self._left + (now - self._filled) * self.events_per_second)
        self._filled = now
        if self._left <= 0:
            raise Refusal("too_fast", retry_after=ceil((1 - self._left) / self.events_per_second))
        self._left -= events

    def allows(self, origin: str) -> bool:
        return "*" in self.origins or origin in self.origins


@dataclass(frozen=True)
class Access:
    keys: tuple[WriteKey, ...] = ()
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    limits: Limits = field(default_factory=Limits)
    everyone: WriteKey = field(default_factory=lambda: WriteKey(origins=("*",)))

    @classmethod
    def read(cls, file: Path) -> "Access":
        """The rules of a home. A mistake in the file stops the collector at once."""
        if not file.exists():
            return cls()
        try:
            told = tomllib.loads(file.read_text())
            keys = [WriteKey(name, **_tuples(key)) for name, key in told.pop("keys", {}).items()]
            proxies = tuple(ip_network(network) for network in told.pop("trusted_proxies", ()))
            return cls(tuple(keys), proxies, Limits(**told.pop("limits", {})), **told)
        except (TypeError, ValueError) as error:
            raise SettingError(f"{file} cannot be used: {error}") from error

    def key(self, secret: str, source: str) -> WriteKey:
        if not self.keys:
            return self.everyone
        for key in self.keys:
            if hmac.compare_digest(key.secret.encode(), secret.encode()):
                if key.sources and source not in key.sources:
                    raise Refusal("bad_write_key", "This write key is not for this source.")
                return key
        raise Refusal("bad_write_key")

    def origin_known(self, origin: str) -> bool:
        """Whether any key lists a page's origin: what can be said before a browser shows its key."""
        return not self.keys or any(key.allows(origin) for key in self.keys)

    def address(self, peer: str, headers: Mapping[bytes, bytes]) -> str:
        """The sender's address: the last forwarded one that is not a trusted proxy's own."""
        # Reading addresses costs a tenth of a request; without a forwarded one there is nothing to choose.
        if b"x-forwarded-for" not in headers:
            return peer
        address = peer
        forwarded = headers[b"x-forwarded-for"].decode("latin-1").split(",")
        while forwarded and self.trusted(address):
            address = forwarded.pop().strip() or address
        return address

    def trusted(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self.trusted_proxies)


def _tuples(told: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
