"""One driver per checkpoint: a lock that the kernel frees when its process dies, however it dies."""

import fcntl
import os
from pathlib import Path
from typing import IO


class LeaseTaken(RuntimeError):
    """Another live driver runs this checkpoint; nothing was changed."""


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
