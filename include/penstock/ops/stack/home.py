"""The home: one folder with all state, its identity, and the lock that says whether a stack lives in it."""

import errno
import fcntl
import json
import os
import secrets
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from penstock.refusal import Refusal

# Counts up when a home of before can no longer be read as it is.
LAYOUT = 1
# A broker that meets a full disk stops; better not to begin.
ROOM = 512 * 2**20
# A supervisor's exit status when another one has the home.
TAKEN = 3
USERS = {"analyst": "viewer", "oncall": "op", "admin": "admin"}


@dataclass(frozen=True)
class Home:
    """`stack` is the identity that every process of this home carries in its environment."""

    folder: Path
    stack: str

    @property
    def run(self) -> Path:
        return self.folder / "run"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def socket(self) -> Path:
        return self.run / "supervisor.sock"

    @property
    def lock(self) -> Path:
        return self.run / "supervisor.lock"

    @property
    def passwords(self) -> Path:
        return self.folder / "passwords.json"

    @property
    def settings(self) -> Path:
        """What the running stack was started with, so that `status` asks the right ports."""
        return self.run / "settings.json"

    def secret(self, name: str) -> str:
        """A random secret of this home, made at its first use and kept."""
        path = self.folder / "secrets" / name
        if not path.is_file():
            write(path, secrets.token_urlsafe(32))
        return path.read_text()

    def lives(self) -> bool:
        """Whether a supervisor holds this home now. The kernel frees the lock however it died."""
        if not self.lock.exists():
            return False
        with self.lock.open() as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


def open_home(folder: Path) -> Home:
    """The home in this folder, made if it is not there. Refuses before anything is changed."""
    with readable_errors(folder):
        if (folder / "home.json").is_file():
            home = _known(folder)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            home = Home(folder, str(uuid.uuid4()))
            _roomy(folder)
            write(folder / "home.json", json.dumps({"layout": LAYOUT, "stack": home.stack}))
        if len(str(home.socket)) > 100:
            raise Refusal(
                f"The path {folder} is too long for a socket. Set PENSTOCK_HOME to one of 70 characters or fewer."
            )
        for each in (home.run, home.logs, folder / "airflow", folder / "secrets"):
            each.mkdir(mode=0o700, exist_ok=True)
        return home


@contextmanager
def one_start_at_a_time(folder: Path) -> Iterator[None]:
    """Waits for another start of this home to end, so that two never make it, or stop each other's parts."""
    with readable_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / "start.lock").open("w")
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def prepare(home: Home) -> None:
    """What a start needs on disk: room, and the users' passwords."""
    with readable_errors(home.folder):
        _roomy(home.folder)
        if not home.passwords.is_file():
            write(home.passwords, json.dumps({user: secrets.token_urlsafe(12) for user in USERS}))


def write(path: Path, text: str) -> None:
    """Whole or not at all, and for the owner's eyes only."""
    half = path.with_name(f".{path.name}.half")
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    half.rename(path)


@contextmanager
def readable_errors(folder: Path) -> Iterator[None]:
    """A disk's refusals as sentences."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise Refusal(f"The disk of {folder} is full. Free space, or set PENSTOCK_HOME elsewhere.") from error
        why = os.strerror(error.errno or 0).lower()
        raise Refusal(
            f"The home {folder} cannot be written ({why}). Set PENSTOCK_HOME to a folder that you can write."
        ) from error


def _known(folder: Path) -> Home:
    try:
        told = json.loads((folder / "home.json").read_text())
    except ValueError as error:
        raise Refusal(
            f"{folder}/home.json is damaged. Restore it from a backup, or set PENSTOCK_HOME elsewhere."
        ) from error
    layout = told.get("layout", 0)
    if layout == LAYOUT:
        return Home(folder, told["stack"])
    way = (
        "Update Penstock, or set PENSTOCK_HOME to another folder."
        if layout > LAYOUT
        else "Start it with the Penstock that made it, or set PENSTOCK_HOME to a new folder and replay into it."
    )
    raise Refusal(f"The home {folder} has layout {layout} and this Penstock reads {LAYOUT}. Nothing was changed. {way}")


def _roomy(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < ROOM:
        raise Refusal(
            f"The disk of {folder} has {free // 2**20} MB free and {ROOM // 2**20} MB are needed. "
            "Free space, or set PENSTOCK_HOME elsewhere."
        )
