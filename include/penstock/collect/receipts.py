"""Receipts: where each event of a request went, in a token that any collector of the home can read again.

Nothing is stored for a receipt: the token is the list of positions, signed so that only given ones are answered.
"""

import hashlib
import hmac
import os
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path

import msgspec

from penstock.collect.refusal import Refusal
from penstock.log.producer import Position

SIGNATURE = 16


class Receipt(msgspec.Struct, array_like=True):
    """The events of one request: their ids, and (partition, offset) where the log has told it already."""

    source: str
    ids: list[str]
    positions: list[Position]


class Receipts:
    """Writes and reads tokens with the secret of a home."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @classmethod
    def of_home(cls, home: Path) -> "Receipts":
        """The first collector of a home makes the secret; a link is how two of them agree on one."""
        file = home / "receipts.key"
        if not file.exists():
            home.mkdir(parents=True, exist_ok=True)
            mine = home / f"receipts.key.{os.getpid()}"
            mine.touch(mode=0o600)
            mine.write_bytes(os.urandom(32))
            try:
                os.link(mine, file)
            except FileExistsError:
                pass
            finally:
                mine.unlink()
        return cls(file.read_bytes())

    def write(self, receipt: Receipt) -> str:
        body = zlib.compress(msgspec.msgpack.encode(receipt))
        return urlsafe_b64encode(self._signature(body) + body).decode().rstrip("=")

    def read(self, token: str) -> Receipt:
        try:
            told = urlsafe_b64decode(token + "=" * (-len(token) % 4))
            signature, body = told[:SIGNATURE], told[SIGNATURE:]
            if not hmac.compare_digest(signature, self._signature(body)):
                raise Refusal("unknown_receipt")
            return msgspec.msgpack.decode(zlib.decompress(body), type=Receipt)
        except (ValueError, zlib.error) as error:
            raise Refusal("unknown_receipt") from error

    def _signature(self, body: bytes) -> bytes:
        return hashlib.blake2b(body, key=self._secret, digest_size=SIGNATURE).digest()
