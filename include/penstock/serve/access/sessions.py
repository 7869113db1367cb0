"""Sessions that the browser keeps, signed: user and end of validity. A changed password ends them."""

import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error

from penstock.serve.access.passwords import Passwords

SECONDS = 12 * 3600


class Sessions:
    def __init__(self, key: bytes, passwords: Passwords) -> None:
        self._key = key
        self._passwords = passwords

    def token(self, user: str, now: float | None = None) -> str:
        until = int((time.time() if now is None else now) + SECONDS)
        said = urlsafe_b64encode(f"{until}:{user}".encode()).decode()
        return f"{said}.{self._signature(said, user)}"

    def user(self, token: str) -> str | None:
        """Whose session this is; none if it is over, or not ours."""
        said, _, signature = token.partition(".")
        try:
            until, _, user = urlsafe_b64decode(said).decode().partition(":")
            over = int(until) < time.time()
        except (ValueError, Error):
            return None
        if self._passwords.of(user) is None or over:
            return None
        return user if hmac.compare_digest(signature, self._signature(said, user)) else None

    def _signature(self, said: str, user: str) -> str:
        # The password is part of the key, so that a new one makes old sessions worthless.
        return hmac.digest(self._key + (self._passwords.of(user) or "").encode(), said.encode(), "sha256").hex()
