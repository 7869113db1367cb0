"""Is a part well: does its port accept, does its page answer, has its heart beaten since it started."""

import json
import socket
import time
import urllib.request
from collections.abc import Callable
from datetime import datetime
from typing import Any

# A check is asked with the time at which the process started, in seconds since 1970.
Check = Callable[[float], bool]


def tcp(port: int) -> Check:
    def accepts(_started: float) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return True
        except OSError:
            return False

    return accepts


def http(url: str) -> Check:
    return lambda _started: fetch(url) is not None


def fetch(url: str, timeout: float = 5.0) -> bytes | None:
    """The body of a 2xx answer; None for anything else."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:  # noqa: S310 (our own loopback addresses)
            body: bytes = answer.read()
            return body
    except OSError:
        return None


class Report:
    """Airflow's own account of its parts: one question a second answers for all four."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._asked = 0.0
        self._told: dict[str, Any] = {}

    def answers(self, _started: float) -> bool:
        return bool(self._fresh())

    def beats(self, part: str) -> Check:
        def beaten(started: float) -> bool:
            told = self._fresh().get(part) or {}
            at = told.get(f"latest_{part}_heartbeat") or "1970-01-01T00:00:00+00:00"
            # A heart that beat before the process began was another's.
            return told.get("status") == "healthy" and datetime.fromisoformat(at).timestamp() >= started

        return beaten

    def _fresh(self) -> dict[str, Any]:
        if time.monotonic() - self._asked > 1.0:
            body = fetch(self._url)
            self._told = json.loads(body) if body else {}
            self._asked = time.monotonic()
        return self._told
