"""What a home needs once and then keeps: the key of sessions, the users' passwords. Random, never a default."""

import json
import os
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path


def key_in(file: Path) -> bytes:
    """The home's own key. Whoever deletes the file logs everybody out."""
    return _made_once(file, lambda: secrets.token_urlsafe(32)).encode()


def passwords_in(file: Path, users: Iterable[str]) -> Path:
    """The stack writes this file before its parts start; a serve that runs alone writes it here."""
    _made_once(file, lambda: json.dumps({user: secrets.token_urlsafe(12) for user in users}))
    return file


def _made_once(file: Path, text: Callable[[], str]) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        half = file.with_name(f".{file.name}.{os.getpid()}")
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
            handle.write(text())
        # A link is made whole or not at all, and never over another's.
        with suppress(FileExistsError):
            os.link(half, file)
        half.unlink()
    return file.read_text()
