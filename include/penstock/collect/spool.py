"""A folder of segment files that keeps records while the log cannot. Synced before anybody is answered.

Several collectors share one home: each holds the lock of a slot of its own, and takes over what dead ones left.
"""

import asyncio
import fcntl
import os
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import IO

from penstock.collect.frames import packed
from penstock.log.producer import Record

# A segment is sent whole and then deleted: after a crash at most this much is sent twice (with the same ids).
SEGMENT = 4 * 1024 * 1024


class SpoolFull(OSError):
    """The spool has reached its limit, or the disk its end."""


class Spool:
    """One slot of the spool. `append` returns when the records are on disk for good."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.limit = limit
        self._lock, self.slot = _free_slot(folder)
        self._folder = folder
        self._open: Path | None = None
        self._file = -1
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self.adopt()
        self.size = self._on_disk()

    def segments(self) -> list[Path]:
        """Oldest first: their names begin with the time they were opened."""
        return sorted(self.slot.glob("*.seg"))

    def closed(self) -> list[Path]:
        """Segments that nothing is written to any more."""
        listed = self.segments()
        # Read after the listing: a new segment is the open one before it is there to be listed.
        current = self._open
        return [segment for segment in listed if segment != current]

    def idle(self) -> bool:
        return self._writing is None and not self._waiting and not self.segments()

    async def append(self, records: list[Record]) -> None:
        frames = b"".join(map(packed, records))
        if self.size + len(frames) > self.limit:
            raise SpoolFull(f"the spool holds {self.size} of {self.limit} bytes")
        self.size += len(frames)
        safe = asyncio.get_running_loop().create_future()
        self._waiting.append((frames, safe))
        if self._writing is None:
            self._writing = asyncio.create_task(self._commit())
        await safe

    async def _commit(self) -> None:
        """Group commit: whoever comes while one fsync runs shares the next."""
        while self._waiting:
            group, self._waiting = self._waiting, []
            data = b"".join(frames for frames, _ in group)
            try:
                await asyncio.to_thread(self._write, data)
            except OSError as error:
                self.size -= len(data)
                _settle(group, SpoolFull(f"the spool's disk: {error}"))
            else:
                _settle(group, None)
        self._writing = None

    def _write(self, data: bytes) -> None:
        if self._open is None:
            self._begin()
        start = os.lseek(self._file, 0, os.SEEK_END)
        try:
            _write_all(self._file, data)
            os.fdatasync(self._file)
        except OSError:
            # Nobody was answered for these bytes, so nobody must find them.
            os.ftruncate(self._file, start)
            raise
        if start + len(data) > SEGMENT:
            self._end()

    def _begin(self) -> None:
        self._open = self.slot / f"{time.time_ns():020d}.seg"
        try:
            self._file = os.open(self._open, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            _sync_folder(self.slot)
        except OSError:
            self._open = None
            raise

    def _end(self) -> None:
        if self._open is not None:
            os.close(self._file)
            self._open = None

    async def close_all(self) -> list[Path]:
        """Every segment, none of them open. Only for when nobody appends: else it would never end."""
        while self._writing is not None:
            await asyncio.wait([self._writing])
        self._end()
        self.size = self._on_disk()
        return self.segments()

    def _on_disk(self) -> int:
        return sum(segment.stat().st_size for segment in self.segments())

    def remove(self, segment: Path) -> None:
        self.size -= segment.stat().st_size
        segment.unlink()

    def set_aside(self, segment: Path) -> None:
        """Keeps a segment that cannot be read for a person to look at."""
        self.size -= segment.stat().st_size
        segment.rename(segment.with_suffix(".damaged"))

    def adopt(self) -> int:
        """Takes the segments of slots whose collectors are gone."""
        adopted = 0
        for other in self._folder.iterdir():
            if other == self.slot or not other.is_dir():
                continue
            lock = _locked(other)
            if lock is None:
                continue
            for segment in other.glob("*.seg"):
                adopted += segment.stat().st_size
                segment.rename(self.slot / segment.name)
            lock.close()
        _sync_folder(self.slot)
        return adopted

    def close(self) -> None:
        self._end()
        self._lock.close()


def _free_slot(folder: Path) -> tuple[IO[bytes], Path]:
    for slot in _slots(folder):
        slot.mkdir(parents=True, exist_ok=True)
        lock = _locked(slot)
        if lock is not None:
            return lock, slot
    raise AssertionError("there is always one more slot")


def _slots(folder: Path) -> Iterator[Path]:
    return (folder / str(number) for number in count())


def _locked(slot: Path) -> IO[bytes] | None:
    """The slot's lock, which the kernel frees when its process ends; None where another holds it."""
    lock = (slot / "lock").open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def _settle(group: list[tuple[bytes, "asyncio.Future[None]"]], error: OSError | None) -> None:
    for _, safe in group:
        if safe.done():
            continue
        if error is None:
            safe.set_result(None)
        else:
            safe.set_exception(error)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
