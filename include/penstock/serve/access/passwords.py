"""The users' passwords, which the home keeps for Airflow as well; and a bound on guessing."""

import hmac
import json
import time
from collections import deque
from pathlib import Path

ATTEMPTS, WINDOW = 10, 60.0
# Addresses whose failures are remembered.
MOST_ADDRESSES = 10_000


class Passwords:
    """`file` holds user -> password. It is read anew each time, so that a change counts at once."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._failures: dict[str, deque[float]] = {}

    def of(self, user: str) -> str | None:
        try:
            password = json.loads(self._file.read_text()).get(user)
        except (OSError, ValueError, AttributeError):
            return None
        return password if isinstance(password, str) and password else None

    def right(self, user: str, password: str) -> bool:
        known = self.of(user)
        # As long for a user that there is as for one that there is not.
        return hmac.compare_digest((known or "").encode(), password.encode()) and known is not None

    def waits(self, address: str) -> int:
        """Seconds for which this address must not try again."""
        tried = self._failures.get(address)
        if not tried or len(tried) < ATTEMPTS:
            return 0
        return max(0, int(tried[0] + WINDOW - time.monotonic()) + 1)

    def failed(self, address: str) -> None:
        if len(self._failures) >= MOST_ADDRESSES:
            self._failures.pop(next(iter(self._failures)))
        self._failures.setdefault(address, deque(maxlen=ATTEMPTS)).append(time.monotonic())
