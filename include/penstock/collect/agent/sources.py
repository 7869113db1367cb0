"""Where an agent's events come from: files, lines over TCP, a generator. Each gives batches and learns what is safe."""

import asyncio
import contextlib
import hashlib
import json
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from stat import S_ISREG
from typing import IO, Protocol

from penstock.collect.agent.formats import FORMATS, Event, Parse, parsed

BATCH = 500
# How often files are looked at.
LOOK = 0.2
IDS = uuid.UUID("5a1f6c1e-30f4-5a51-8f0e-7a2f4f6b7d90")
# A file is known by its inode and by how it begins: inodes are used again.
BEGINS = 256
LONGEST_LINE = 1024 * 1024


class Source(Protocol):
    def batches(self) -> AsyncIterator[list[Event]]:
        """Events in order. Asking for the next batch says nothing of the last; `safe` does."""
        ...

    def safe(self) -> None:
        """All batches given so far are where the agent has to bring them."""


class Tail:
    """Lines of the files in a folder, or of those that a pattern names, through rotation.

    The same line always has the same event id.
    """

    def __init__(self, state: Path, path: str, format: str = "text") -> None:
        self._path = Path(path)
        self._format = format
        self._state = state
        self._safe: dict[str, int] = json.loads(state.read_text()) if state.exists() else {}
        self._read = dict(self._safe)
        self._parse: dict[str, Parse] = {}

    async def batches(self) -> AsyncIterator[list[Event]]:
        while True:
            found = False
            for file in await asyncio.to_thread(self._files):
                batch: list[Event] = []
                # A rotation may have taken it away since; under its new name it is found the next time.
                with contextlib.suppress(FileNotFoundError):
                    batch = await asyncio.to_thread(self._lines, file)
                if batch:
                    found = True
                    yield batch
            if not found:
                await asyncio.sleep(LOOK)

    def safe(self) -> None:
        self._safe = dict(self._read)
        self._state.parent.mkdir(parents=True, exist_ok=True)
        new = self._state.with_suffix(".new")
        new.write_text(json.dumps(self._safe))
        new.replace(self._state)

    def _files(self) -> list[Path]:
        """Oldest first: what a rotation put aside comes before what was begun after it."""
        folder, name = (self._path, "*") if self._path.is_dir() else (self._path.parent, self._path.name)
        aged: list[tuple[int, Path]] = []
        for file in folder.glob(name):
            with contextlib.suppress(FileNotFoundError):
                told = file.stat()
                if S_ISREG(told.st_mode):
                    aged.append((told.st_mtime_ns, file))
        return [file for _, file in sorted(aged)]

    def _lines(self, file: Path) -> list[Event]:
        with file.open("rb") as lines:
            begins = lines.readline(BEGINS)
            if not begins.endswith(b"\n") and len(begins) < BEGINS:
                return []
            name = f"{file.stat().st_ino}-{hashlib.sha256(begins).hexdigest()[:16]}"
            if name not in self._parse:
                self._parse[name] = FORMATS[self._format]()
                self._head(lines, name)
            lines.seek(self._read.get(name, 0))
            return self._take(lines, name)

    def _head(self, lines: IO[bytes], name: str) -> None:
        """After a restart: the lines that name the columns were read by the one before."""
        if self._format not in ("csv", "w3c") or not self._read.get(name):
            return
        lines.seek(0)
        for line in lines:
            text = line.decode(errors="replace").rstrip("\r\n")
            if lines.tell() > self._read[name]:
                return
            if self._format == "csv":
                parsed(self._parse[name], text)
                return
            if text.startswith("#"):
                parsed(self._parse[name], text)

    def _take(self, lines: IO[bytes], name: str) -> list[Event]:
        events: list[Event] = []
        offset = self._read.get(name, 0)
        while len(events) < BATCH and (line := lines.readline(LONGEST_LINE)):
            if not line.endswith(b"\n") and len(line) < LONGEST_LINE:
                # Still being written: it is taken when it is whole.
                break
            event = parsed(self._parse[name], line.decode(errors="replace").rstrip("\r\n"))
            if event is not None:
                events.append({"event_id": str(uuid.uuid5(IDS, f"{name}:{offset}")), **event})
            offset += len(line)
        self._read[name] = offset
        return events


class Lines:
    """Lines over TCP, as syslog sends them. The protocol has no answers, so a full queue stops the sender."""

    def __init__(self, port: int, format: str = "text", host: str = "127.0.0.1") -> None:
        self._where = (host, port)
        self._parse = FORMATS[format]()
        self._queue: asyncio.Queue[Event] = asyncio.Queue(10 * BATCH)

    async def batches(self) -> AsyncIterator[list[Event]]:
        async with await asyncio.start_server(self._taken, *self._where, limit=LONGEST_LINE):
            while True:
                yield await gathered(self._queue)

    def safe(self) -> None:
        pass

    async def _taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                event = parsed(self._parse, line.decode(errors="replace").rstrip("\r\n"))
                if event is not None:
                    await self._queue.put(event)
        except (ValueError, ConnectionError):
            # A line without end, or a sender that is gone: only his connection is closed.
            pass
        finally:
            writer.close()


class Sequence:
    """Numbers, for trying an agent out."""

    def __init__(self, count: int, rate: float = 1000.0) -> None:
        self._count = count
        self._rate = rate

    async def batches(self) -> AsyncIterator[list[Event]]:
        begun = time.monotonic()
        for first in range(0, self._count, BATCH):
            numbers = range(first, min(first + BATCH, self._count))
            yield [{"number": number} for number in numbers]
            await asyncio.sleep(max(0.0, begun + numbers.stop / self._rate - time.monotonic()))

    def safe(self) -> None:
        pass


async def gathered(queue: "asyncio.Queue[Event]") -> list[Event]:
    """One event, and those that are there with it."""
    events = [await queue.get()]
    while not queue.empty() and len(events) < BATCH:
        events.append(queue.get_nowait())
    return events
