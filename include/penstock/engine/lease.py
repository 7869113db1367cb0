"""One driver per checkpoint: a lock that the kernel frees when its process dies, however it dies."""

import fcntl
import logging
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Event, Thread
from typing import IO

from penstock.lake.layout import FIRST_RELEASE
from penstock.model.source import Source

# How often a holder shows that it lives, and for how long silence is believed to be patience.
BEAT_SECONDS, SILENT_SECONDS = 2.0, 30.0
log = logging.getLogger(__name__)


class LeaseTaken(RuntimeError):
    """Another live driver runs this checkpoint; nothing was changed."""


def leases_in(home: Path) -> Path:
    """Where the leases of a home's drivers are."""
    return home / "run" / "leases"


def of_driver(sources: Iterable[Source], release: str) -> list[str]:
    """What a driver of these holds: one lease a shape and, beside the first release, one an archive."""
    kinds = ("archive", "shape") if release == FIRST_RELEASE else ("shape",)
    return [f"{kind}-{source.name}-{release}" for source in sources for kind in kinds]


def ask_to_end(folder: Path, names: Iterable[str]) -> None:
    """Asks whoever holds these to let go. Only who has begun by now minds it, and nobody has to take it back."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.asked").touch()


def asked_to_end(folder: Path, names: Iterable[str], since: float) -> bool:
    markers = [folder / f"{name}.asked" for name in names]
    return any(marker.exists() and marker.stat().st_mtime >= since for marker in markers)


def take(folder: Path, name: str) -> IO[str]:
    """Holds the lease until the returned file is closed or the process ends. Children do not inherit it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / f"{name}.lease").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise LeaseTaken(
            f"{name} is already run by process {holder}, where its work goes on; stop that driver first."
        ) from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def holder(folder: Path, name: str) -> str:
    """Who has a lease, as a sentence; empty when nobody has. It is held for a moment to see that."""
    try:
        take(folder, name).close()
    except LeaseTaken as taken:
        return str(taken)
    return ""


@contextmanager
def turn(folder: Path, name: str, silent: float = SILENT_SECONDS) -> Iterator[None]:
    """Holds the lease meanwhile; waits for one that is taken.

    A holder that shows no life (its process was stopped, its machine sleeps) is passed by. The lease saves double work;
    that a holder which wakes up does no harm must be ensured by what it commits.
    """
    lease, done = _awaited(folder, name, silent), Event()
    file = folder / f"{name}.lease"

    def beat() -> None:
        while not done.wait(BEAT_SECONDS):
            os.utime(file)

    os.utime(file)
    Thread(target=beat, name=f"lease-{name}", daemon=True).start()
    try:
        yield
    finally:
        done.set()
        if lease is not None:
            lease.close()


def builds(root: str, release: str, source: str) -> AbstractContextManager[None]:
    """Two builds of the same would do the same work; the second waits, and finds that nothing is new."""
    # On an object store only the commit itself keeps two builds apart, which is enough to be right.
    return nullcontext() if "://" in root else turn(Path(root, "leases"), f"build-{release}-{source}")


def _awaited(folder: Path, name: str, silent: float) -> IO[str] | None:
    while True:
        try:
            return take(folder, name)
        except LeaseTaken:
            quiet = time.time() - (folder / f"{name}.lease").stat().st_mtime
            if quiet > silent:
                log.warning("%s: its holder has been silent for %.0f s; going on without it", name, quiet)
                return None
            time.sleep(0.2)
