"""Where a request comes from: its network and, by a database that an operator may add, its country and region.

The address itself goes no further than here: it is looked up, cut and forgotten.
"""

import ipaddress
import logging
import re
import shutil
from functools import lru_cache
from itertools import islice
from tempfile import NamedTemporaryFile
from typing import Any

import maxminddb

from penstock.log.producer import Envelope
from penstock.settings import SettingError

log = logging.getLogger("penstock.collect")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# The senders of some minutes; one that fell out is looked up again.
REMEMBERED = 16_384
# A database of countries has one in each of its first networks.
LOOKED_AT = 10_000
COUNTRY = re.compile("[A-Z]{2}")
LONGEST_REGION = 100
WAY_OUT = (
    "Events are taken, and their country is the time zone's. Give PENSTOCK_PLACES a database in MaxMind's format with"
    " countries (GeoLite2-Country, GeoLite2-City, DB-IP's), or unset it, and start the collector again."
)


class Places:
    """What is said of an address in an event's envelope. `file` is the database; empty: the network is all."""

    def __init__(self, file: str = "") -> None:
        self._database: maxminddb.Reader | None = None
        try:
            self._database = opened(file) if file else None
        except SettingError as error:
            # A lost country is less than a lost event.
            log.error("%s", error)
        self.of = lru_cache(REMEMBERED)(self._of)

    def _of(self, address: str) -> Envelope:
        try:
            parsed: Address = ipaddress.ip_address(address)
        except ValueError:
            return {"client_address": b""}
        if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
            parsed = parsed.ipv4_mapped
        place = self._place(parsed)
        return {"client_address": network(parsed), **({"client_place": place} if place else {})}

    def _place(self, address: Address) -> bytes:
        try:
            return place(self._database.get(address)) if self._database else b""
        except (ValueError, maxminddb.InvalidDatabaseError):
            # IPv6 in a database of IPv4, or a damaged entry.
            return b""


def opened(file: str) -> maxminddb.Reader:
    """The database of a file, which has to know countries."""
    copied = file
    try:
        # A copy without a name: whoever writes over a file that is mapped kills the process that reads it.
        with NamedTemporaryFile(suffix=".mmdb") as copy:
            copied = copy.name
            shutil.copyfile(file, copied)
            database = maxminddb.open_database(copied)
        knows = any(place(told) for _, told in islice(database, LOOKED_AT))
    except (OSError, ValueError, maxminddb.InvalidDatabaseError) as error:
        why = str(error).replace(copied, file)
        raise SettingError(f"The database of places cannot be read: {why} {WAY_OUT}") from error
    if not knows:
        kind = database.metadata().database_type
        raise SettingError(f"The database of places has no countries: {file} is of {kind}. {WAY_OUT}")
    return database


def place(told: Any) -> bytes:
    """`SE/Skåne`, `SE`, or nothing: of an entry in MaxMind's layout. One header, as each costs an event 0.6 µs."""
    country = _text(told, "country", "iso_code")
    if not COUNTRY.fullmatch(country):
        return b""
    parts = _of(told, "subdivisions")
    largest = parts[0] if isinstance(parts, list) and parts else None
    region = (_text(largest, "names", "en") or _text(largest, "iso_code"))[:LONGEST_REGION]
    return (f"{country}/{region}" if region.isprintable() and region else country).encode()


def network(address: Address) -> bytes:
    """The sender's network, never the sender: /24 of IPv4, /48 of IPv6."""
    prefix = 24 if address.version == 4 else 48
    return str(ipaddress.ip_network(f"{address}/{prefix}", strict=False).network_address).encode()


def _of(told: Any, name: str) -> Any:
    return told.get(name) if isinstance(told, dict) else None


def _text(told: Any, *path: str) -> str:
    for name in path:
        told = _of(told, name)
    return told if isinstance(told, str) else ""
