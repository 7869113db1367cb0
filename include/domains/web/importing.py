"""Lines of web servers' logs, and of tables, become the events that a tracker would have sent. Pure.

A log knows no visitors: whoever has the same address and agent on a site is one, by a hash with the home's own salt,
so that no address is in an event.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from domains.web.model import NUMBERS, TYPES

Fields = Mapping[str, Any]
Event = dict[str, Any]

# What a page asks for beside itself; a view of it is nobody's.
PARTS = re.compile(
    r"\.(css|js|mjs|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|eot|mp4|webm|mp3|json|xml|txt|zip|gz)$", re.I
)
SEEN = range(200, 300)
# The answer of a page that the browser still has.
UNCHANGED = 304
APACHE_TIME = "%d/%b/%Y:%H:%M:%S %z"


class NotAnEvent(ValueError):
    """A line that says something, but not enough; the message says what is missing."""


@dataclass(frozen=True)
class Request:
    """What every log tells of one request, by one name."""

    at: datetime
    method: str
    path: str
    status: int
    address: str
    agent: str
    referrer: str
    host: str = ""


def combined(fields: Fields) -> Request:
    """Apache's and nginx's common and combined formats."""
    method, _, rest = str(fields.get("request", "")).partition(" ")
    path = rest.rpartition(" ")[0] or rest
    at = datetime.strptime(_of(fields, "time"), APACHE_TIME)
    status, agent = int(_of(fields, "status")), fields.get("user_agent", "")
    return Request(at, method, path, status, _of(fields, "host"), agent, fields.get("referrer", ""))


def w3c(fields: Fields) -> Request:
    """The W3C extended format, as IIS writes it: times in UTC, spaces in an agent as plus signs."""
    at = datetime.fromisoformat(f"{_of(fields, 'date')}T{_of(fields, 'time')}").replace(tzinfo=UTC)
    query = fields.get("cs-uri-query")
    path = _of(fields, "cs-uri-stem") + (f"?{query}" if query else "")
    agent = str(fields.get("cs(User-Agent)", "")).replace("+", " ")
    referrer, host = fields.get("cs(Referer)", ""), fields.get("cs-host", "")
    status = int(_of(fields, "sc-status"))
    return Request(at, fields.get("cs-method", "GET"), path, status, _of(fields, "c-ip"), agent, referrer, host)


def pageview(request: Request, site: str, salt: bytes) -> Event | None:
    """The page view that a request was; nothing for what belongs to a page, for errors, and for what only sends."""
    path = request.path.partition("?")[0]
    if request.method != "GET" or PARTS.search(path) or request.status not in (*SEEN, UNCHANGED):
        return None
    told = {
        "type": "pageview",
        "site": site,
        "visitor": _visitor(request, site, salt),
        "url": f"https://{request.host or site}{request.path}",
        "happened_at": request.at.astimezone(UTC).isoformat(),
        "referrer": request.referrer,
        "user_agent": request.agent,
    }
    return {**{name: value for name, value in told.items() if value}, "imported": True}


def row(fields: Fields, site: str, salt: bytes) -> Event:
    """A table's columns are named as the events' fields are; empty cells say nothing."""
    told: Event = {name: value for name, value in fields.items() if value != ""}
    for name in NUMBERS:
        if name in told:
            told[name] = float(told[name])
    return {"type": TYPES[0], "site": site, **told, "imported": True}


def _logged(read: Callable[[Fields], Request]) -> Callable[[Fields, str, bytes], Event | None]:
    return lambda fields, site, salt: pageview(read(fields), site, salt)


# The format that the command names -> the one that reads its lines, and what makes events of them.
FORMATS: Mapping[str, tuple[str, Callable[[Fields, str, bytes], Event | None]]] = {
    "combined": ("apache", _logged(combined)),
    "w3c": ("w3c", _logged(w3c)),
    "csv": ("csv", row),
}


def _visitor(request: Request, site: str, salt: bytes) -> str:
    seen = f"{site} {request.address} {request.agent}".encode()
    return hmac.new(salt, seen, hashlib.sha256).hexdigest()[:24]


def _of(fields: Fields, name: str) -> str:
    if not fields.get(name):
        raise NotAnEvent(f"the line has no {name}")
    return str(fields[name])
