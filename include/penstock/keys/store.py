"""A key for each subject, in one SQLite file of the home: outside the lake, and the only thing that erasure destroys.

A subject is whoever a field names, within a domain. The file has neither names nor values: a row is found by a keyed
hash of the name, or by the token that stands for it on records. A token says nothing once its row is gone.
"""

import hashlib
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

TOKEN_BYTES, KEY_BYTES = 16, 32
# SQLite takes so many values in one statement on every version.
MOST_VALUES = 500
PRAGMAS = "pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on;"
TABLES = """
create table if not exists subjects (name blob primary key, token blob not null unique, key blob not null);
create table if not exists destroyed (token blob primary key, operation text not null, at text not null);
create table if not exists secret (one integer primary key check (one = 1), value blob not null);
"""


class Subject(NamedTuple):
    token: bytes
    key: bytes


class NoKeys(LookupError):
    """Records are sealed and there are no keys at all: whoever took them for erased would be wrong."""


class Keys:
    """The keys of one home. Every call opens the file anew: what another process destroyed is gone at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / "subjects.db"
        # Its time tells collectors that keys which they hold may be destroyed.
        self._marker = folder / "erased"

    @classmethod
    def of_home(cls, home: Path) -> "Keys":
        return cls(home / "keys")

    def there(self) -> bool:
        return self._file.exists()

    def generation(self) -> int:
        """Another number after each erasure."""
        try:
            return self._marker.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def of(self, domain: str, names: Collection[str]) -> dict[str, Subject]:
        """The subjects of these names, made where they are new. Durable when it returns."""
        with self._open() as file:
            secret = self._secret(file)
            hashes = {name: _hashed(secret, domain, name) for name in names}
            with file:
                file.executemany(
                    "insert or ignore into subjects values (?, ?, ?)",
                    [(each, os.urandom(TOKEN_BYTES), os.urandom(KEY_BYTES)) for each in hashes.values()],
                )
            found = dict(_rows(file, "select name, token, key from subjects where name in", hashes.values()))
        return {name: Subject(*found[each]) for name, each in hashes.items()}

    def tokens(self, domain: str, names: Collection[str]) -> dict[str, bytes]:
        """The tokens of those names that have one; none is made."""
        if not self._file.exists():
            return {}
        with self._open() as file:
            secret = self._secret(file)
            hashes = {_hashed(secret, domain, name): name for name in names}
            found = _rows(file, "select name, token, key from subjects where name in", hashes)
            return {hashes[each]: token for each, (token, _) in found}

    def keys(self, tokens: Collection[bytes]) -> dict[bytes, bytes]:
        """The keys that there still are."""
        if not self._file.exists():
            return {}
        with self._open() as file:
            return {token: key for _, (token, key) in _rows(file, BY_TOKEN, tokens)}

    def destroyed(self, tokens: Collection[bytes], operation: str) -> set[bytes]:
        """Those of the tokens whose keys this operation has destroyed before."""
        if not self._file.exists():
            return set()
        with self._open() as file:
            told = _rows(file, "select token, operation, at from destroyed where token in", tokens)
            return {token for token, (by, _) in told if by == operation}

    def destroy(self, tokens: Collection[bytes], operation: str) -> None:
        """For good: freed pages are overwritten, and the write-ahead log, which had them too, is emptied."""
        now = datetime.now(UTC).isoformat()
        with self._open() as file:
            with file:
                file.executemany(
                    "insert or ignore into destroyed values (?, ?, ?)", [(each, operation, now) for each in tokens]
                )
                file.executemany("delete from subjects where token = ?", [(each,) for each in tokens])
            busy = file.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
        if busy:
            raise TimeoutError(f"{self._file} is read without an end, so its log cannot be emptied. Do it again.")
        self._marker.touch()
        os.utime(self._marker)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # Nobody else on the machine reads what is in here.
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(self._file, timeout=30)) as file:
            file.executescript(f"{PRAGMAS}{TABLES}")
            yield file

    def _secret(self, file: sqlite3.Connection) -> bytes:
        """What hashes of names are keyed with; the first to ask makes it."""
        with file:
            file.execute("insert or ignore into secret values (1, ?)", (os.urandom(KEY_BYTES),))
        return bytes(file.execute("select value from secret").fetchone()[0])


BY_TOKEN = "select name, token, key from subjects where token in"  # noqa: S105 - a statement


def _rows(file: sqlite3.Connection, select: str, values: Iterable[bytes]) -> Iterator[tuple[bytes, tuple[Any, Any]]]:
    """The first column, and the two others, of the rows with these values."""
    wanted = list(values)
    for start in range(0, len(wanted), MOST_VALUES):
        part = wanted[start : start + MOST_VALUES]
        places = ", ".join("?" * len(part))
        for first, second, third in file.execute(f"{select} ({places})", part):
            yield first, (second, third)


def _hashed(secret: bytes, domain: str, name: str) -> bytes:
    return hashlib.blake2b(f"{domain}\0{name}".encode(), key=secret, digest_size=16).digest()
