"""What an agent does to an event on its way: add the host or the time, extract by pattern, drop by rule."""

import re
import socket
import time
from collections.abc import Callable
from typing import Any

from penstock.collect.agent.formats import Event

Intercept = Callable[[Event], Event | None]


def host(as_: str = "host") -> Intercept:
    name = socket.gethostname()
    return lambda event: {as_: name, **event}


def timestamp(as_: str = "happened_at") -> Intercept:
    return lambda event: {as_: time.time_ns() // 1_000_000, **event}


def extract(field: str, pattern: str) -> Intercept:
    """Adds the named groups of a pattern that is found in a field."""
    compiled = re.compile(pattern)

    def intercept(event: Event) -> Event:
        found = compiled.search(str(event.get(field, "")))
        return {**event, **(found.groupdict() if found else {})}

    return intercept


def drop(field: str, pattern: str) -> Intercept:
    """Drops events of which a field has the pattern; how many is counted by the agent."""
    compiled = re.compile(pattern)
    return lambda event: None if compiled.search(str(event.get(field, ""))) else event


def add(**fields: Any) -> Intercept:
    return lambda event: {**fields, **event}


INTERCEPTORS: dict[str, Callable[..., Intercept]] = {
    "host": host,
    "timestamp": timestamp,
    "extract": extract,
    "drop": drop,
    "add": add,
}
