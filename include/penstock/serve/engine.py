"""The reader's DuckDB: in memory, without files or network, bounded, and stopped when nobody waits any more."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any
from weakref import ref

import duckdb
import pyarrow as pa

from penstock.lake import sketches
from penstock.serve.problems import too_large, too_slow

MEMORY = "1GB"
SECONDS = 10.0
LOOK_SECONDS = 0.1


class Stop:
    """Stops a question from another thread, before or while it runs."""

    def __init__(self) -> None:
        self._stopped = False
        self._cursors: set[duckdb.DuckDBPyConnection] = set()
        self._lock = Lock()

    def __call__(self) -> None:
        with self._lock:
            self._stopped = True
            for cursor in self._cursors:
                cursor.interrupt()

    def covers(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """From now on, a call stops what this cursor does."""
        with self._lock:
            self._cursors.add(cursor)
        if self._stopped:
            raise duckdb.InterruptException("nobody waits for this answer")

    def leaves(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """It is about to be closed, and a closed one refuses to be stopped."""
        with self._lock:
            self._cursors.discard(cursor)


class Watch:
    """Stops what takes too long: one thread for all, as starting one for each costs more than most questions."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: dict[duckdb.DuckDBPyConnection, float] = {}
        self._lock = Lock()
        self._over = Event()
        # It must not keep its engine alive.
        self._thread = Thread(target=_watched, args=(ref(self), self._over), name="watch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def begun(self, cursor: duckdb.DuckDBPyConnection) -> None:
        with self._lock:
            self._running[cursor] = monotonic() + self._seconds

    def ended(self, cursor: duckdb.DuckDBPyConnection) -> None:
        with self._lock:
            del self._running[cursor]

    def look(self) -> None:
        # Under the lock: a cursor that has ended may be another question's by now.
        with self._lock:
            for cursor, until in self._running.items():
                if monotonic() > until:
                    cursor.interrupt()


def _watched(watch: "ref[Watch]", over: Event) -> None:
    while not over.wait(LOOK_SECONDS):
        found = watch()
        if found is None:
            return
        found.look()
        del found


class Engine:
    """One database; each query has a cursor of its own, on which its relations are."""

    def __init__(self, seconds: float = SECONDS, memory: str = MEMORY) -> None:
        self._seconds = seconds
        self._watch = Watch(seconds)
        self._database = duckdb.connect(":memory:", config={"memory_limit": memory, "threads": 2, "temp_directory": ""})
        sketches.register(self._database)
        self._database.execute("set enable_progress_bar = false")
        self._database.execute("set global TimeZone = 'UTC'")
        self._database.execute("set enable_external_access = false")
        self._database.execute("set lock_configuration = true")

    def close(self) -> None:
        """For who asks once and ends: DuckDB complains of a thread that still has it when Python ends."""
        self._watch.end()
        self._database.close()

    @contextmanager
    def cursor(
        self, relations: Mapping[str, pa.Table], stop: Stop | None = None
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection on which these tables can be asked, for a bounded time."""
        cursor = self._database.cursor()
        self._watch.begun(cursor)
        try:
            if stop is not None:
                stop.covers(cursor)
            for name, rows in relations.items():
                cursor.register(name, rows)
            yield cursor
        except duckdb.InterruptException:
            raise too_slow(self._seconds) from None
        except duckdb.OutOfMemoryException:
            raise too_large("it needs more memory than a question may use; ask for fewer keys or days") from None
        finally:
            self._watch.ended(cursor)
            if stop is not None:
                stop.leaves(cursor)
            cursor.close()

    def table(
        self, sql: str, relations: Mapping[str, pa.Table], parameters: Sequence[Any] = (), stop: Stop | None = None
    ) -> pa.Table:
        with self.cursor(relations, stop) as cursor:
            return cursor.sql(sql, params=list(parameters) or None).to_arrow_table()
