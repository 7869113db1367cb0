"""Links by which anybody may read one page of one domain, until the link is revoked."""

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

MOST = 1_000


@dataclass(frozen=True)
class Share:
    """`digest` is of the link's token, which is not kept: who reads this file has no link."""

    id: str
    digest: str
    domain: str
    scope: str
    by: str
    made_at: str


class Shares:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()

    def all(self) -> list[Share]:
        try:
            return [Share(**told) for told in json.loads(self._file.read_text())]
        except FileNotFoundError:
            return []

    def make(self, domain: str, scope: str, by: str) -> tuple[Share, str]:
        """A new link's share and its token, which is told this once."""
        token = secrets.token_urlsafe(24)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        share = Share(secrets.token_hex(4), _digest(token), domain, scope, by, now)
        with self._lock:
            self._write([*self.all(), share][-MOST:])
        return share, token

    def revoke(self, name: str) -> bool:
        """Whether there was such a share."""
        with self._lock:
            shares = self.all()
            self._write([share for share in shares if share.id != name])
        return any(share.id == name for share in shares)

    def of(self, token: str) -> Share | None:
        digest = _digest(token)
        return next((share for share in self.all() if secrets.compare_digest(share.digest, digest)), None)

    def _write(self, shares: list[Share]) -> None:
        half = self._file.with_suffix(".half")
        half.write_text(json.dumps([asdict(share) for share in shares], indent=1))
        half.chmod(0o600)
        half.rename(self._file)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
