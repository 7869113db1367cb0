"""Who asks: a proxy's word, a session, a share link, user and password, or this machine itself."""

import hmac
from base64 import b64decode
from binascii import Error
from ipaddress import ip_address
from pathlib import Path

from starlette.requests import HTTPConnection

from penstock.serve.access.kept import key_in, passwords_in
from penstock.serve.access.passwords import Passwords
from penstock.serve.access.rules import Rules
from penstock.serve.access.sessions import Sessions
from penstock.serve.access.shares import Shares
from penstock.serve.access.tickets import Tickets
from penstock.serve.access.who import LOCAL, ROLES, Who

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")


class Access:
    """What the home keeps of users, sessions, links and rules."""

    def __init__(self, home: Path) -> None:
        self.rules = Rules.of(home / "console.toml")
        self.passwords = Passwords(passwords_in(home / "passwords.json", ROLES))
        key = key_in(home / "secrets" / "console")
        self.sessions = Sessions(key, self.passwords)
        # Browsers keep cookies by host, whatever the port: another home's must not take the place of ours.
        own = hmac.digest(key, b"cookies", "sha256").hex()[:8]
        self.cookie, self.share_cookie = f"penstock_{own}", f"penstock_share_{own}"
        self.shares = Shares(home / "shares.json")
        self.tickets = Tickets()

    def who(self, asked: HTTPConnection) -> Who | None:
        """None: nobody that we know. A proxy that names users is believed before anything that a browser keeps."""
        if self._by_proxy(asked):
            name = asked.headers.get(self.rules.identity_header, "")
            return Who(name, self.rules.role(name), "proxy") if name else self._shared(asked)
        return self._session(asked) or self._basic(asked) or self._shared(asked) or self._local(asked)

    def named(self, user: str, way: str) -> Who:
        return Who(user, self.rules.role(user), way)

    def _by_proxy(self, asked: HTTPConnection) -> bool:
        return bool(self.rules.identity_header) and self.rules.trusts(address_of(asked))

    def _session(self, asked: HTTPConnection) -> Who | None:
        user = self.sessions.user(asked.cookies.get(self.cookie, ""))
        return self.named(user, "session") if user else None

    def _basic(self, asked: HTTPConnection) -> Who | None:
        """For programs on other machines. Guesses count as those of the form do."""
        kind, _, told = asked.headers.get("authorization", "").partition(" ")
        if kind.lower() != "basic" or self.passwords.waits(address_of(asked)):
            return None
        try:
            user, _, password = b64decode(told, validate=True).decode().partition(":")
        except (ValueError, Error):
            return None
        if self.passwords.right(user, password):
            return self.named(user, "basic")
        self.passwords.failed(address_of(asked))
        return None

    def _shared(self, asked: HTTPConnection) -> Who | None:
        token = asked.cookies.get(self.share_cookie)
        share = self.shares.of(token) if token else None
        return Who(f"link {share.id}", way="share", share=share) if share else None

    def _local(self, asked: HTTPConnection) -> Who | None:
        """A request of this machine to itself. One that a proxy forwards is not, nor one that a page on another
        site sends here under its own name (DNS rebinding)."""
        own = asked.headers.get("host", "").rpartition(":")[0] or asked.headers.get("host", "")
        forwarded = any(name in asked.headers for name in FORWARDED)
        if self.rules.login == "always" or forwarded or own not in OWN_NAMES:
            return None
        return LOCAL if ip_address(address_of(asked)).is_loopback else None


def address_of(asked: HTTPConnection) -> str:
    """The other end of the connection."""
    try:
        return str(ip_address(asked.client.host)) if asked.client else "0.0.0.0"  # noqa: S104
    except ValueError:
        return "0.0.0.0"  # noqa: S104 - no address at all, which nothing trusts
