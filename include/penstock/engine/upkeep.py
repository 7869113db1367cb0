"""Keeps the ten-thousandth epoch as quick as the hundredth: few files, a short log to replay, books up to date.

It runs beside the epochs in a thread of its own, never inside them. Compaction changes no data, so readers, builds and
the ledger do not notice; a commit that it loses to somebody else is simply tried again later.
"""

import json
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from penstock.lake.place import place
from penstock.lake.versions import log_folder, version_file

# Who opens a table reads the list of its files: about 30 microseconds each, so 300 of them cost ten milliseconds.
MANY_FILES = 300
# Files of this size are left alone: a day of a busy source is then some hundred files.
WHOLE_FILE = 64 * 1024 * 1024
# A reader replays the versions since the last checkpoint: about 40 microseconds each.
MANY_VERSIONS = 100
# A few more files and versions than many are no harm.
SOME_VERSIONS = 25
EVERY_SECONDS = 20.0

log = logging.getLogger(__name__)


class Tended:
    """A table that is kept when some versions have come since; to open all of them each time took part of a core."""

    def __init__(self, path: str) -> None:
        self._path, self._log = path, log_folder(path)
        self._due = -1

    def __call__(self) -> None:
        if self._due < 0 or self._log.length(version_file(self._due)) is not None:
            self._due = keep(self._path) + SOME_VERSIONS


def keep(path: str) -> int:
    """Compacts a table that has many small files and shortens a log that has grown. The table's version by now."""
    try:
        table = DeltaTable(path)
    except TableNotFoundError:
        return -1
    if small_files(table) > MANY_FILES:
        table.optimize.compact(target_size=WHOLE_FILE, max_concurrent_tasks=1)
    if table.version() - last_checkpoint(path) >= MANY_VERSIONS:
        table.create_checkpoint()
    return int(table.version())


def small_files(table: DeltaTable) -> int:
    sizes = table.get_add_actions(flatten=True)["size_bytes"].to_pylist()
    return sum(size < WHOLE_FILE for size in sizes)


def last_checkpoint(path: str) -> int:
    """The version of the log's last checkpoint; -1 before the first."""
    log = place(path).below("_delta_log")
    return int(json.loads(log.read("_last_checkpoint"))["version"]) if log.below("_last_checkpoint").there() else -1


class Upkeep:
    """Does some chores, again and again, one at a time, in one thread."""

    def __init__(self, chores: list[Callable[[], object]]) -> None:
        self._chores, self._due = chores, time.time() + EVERY_SECONDS
        self._thread = ThreadPoolExecutor(1, "upkeep")
        self._running: Future[None] | None = None

    def tend(self, now: float) -> None:
        """Starts the chores when they are due and not still being done."""
        if now >= self._due and (self._running is None or self._running.done()):
            self._due = now + EVERY_SECONDS
            self._running = self._thread.submit(self._do)

    def finish(self) -> None:
        """Once more, so that a clean stop leaves the books complete."""
        self._thread.submit(self._do).result()
        self._thread.shutdown()

    def _do(self) -> None:
        for chore in self._chores:
            try:
                chore()
            except Exception:
                # A chore that fails today is done tomorrow; streams must not notice.
                log.exception("a chore is left for later")
