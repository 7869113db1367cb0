"""Lines of a file become events at a collector, at its pace, with a bar; what was acknowledged is remembered.

`make` turns a line into an event: nothing for a line that is none, an error for one that will never be one.
"""

import hashlib
import json
import sys
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from penstock.client import BATCH, Client, Refused
from penstock.refusal import Refusal

# Batches under way at once; what is remembered is what all before them have been acknowledged for.
UNDER_WAY = 4
IDS = uuid.UUID("b7a4dc0e-53a0-5b4b-9d35-0f4ae5f7a1c2")

Line = tuple[int, bytes]
Event = dict[str, Any]
Make = Callable[[bytes], Event | None]


@dataclass
class Sent:
    """What became of the lines."""

    sent: int = 0
    refused: int = 0
    passed_over: int = 0


def opened(file: str) -> IO[bytes]:
    if file == "-":
        return sys.stdin.buffer
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise Refusal(f"{file} cannot be read ({error.strerror}). Name a file, or - for a pipe.") from error


class Mark:
    """How much of a file has been acknowledged. A pipe has no mark."""

    def __init__(self, folder: Path, file: str, source: str, restart: bool) -> None:
        self.name = f"{source}:{Path(file).absolute()}"
        self._mark = None if file == "-" else folder / (hashlib.sha256(self.name.encode()).hexdigest()[:16] + ".json")
        self.offset = 0
        if self._mark is not None and self._mark.exists() and not restart:
            offset = int(json.loads(self._mark.read_text())["offset"])
            # A file that became shorter is another file.
            self.offset = offset if offset <= Path(file).stat().st_size else 0

    def move(self, offset: int) -> None:
        self.offset = offset
        if self._mark is not None:
            self._mark.parent.mkdir(parents=True, exist_ok=True)
            new = self._mark.with_suffix(".new")
            new.write_text(json.dumps({"file": self.name, "offset": offset}))
            new.replace(self._mark)

    def event_id(self, offset: int, line: bytes) -> str:
        """The same line at the same place is the same event, however often it is sent."""
        return str(uuid.uuid5(IDS, f"{self.name}:{offset}:{hashlib.sha256(line).hexdigest()}"))


def send_all(client: Client, lines: IO[bytes], mark: Mark, make: Make, complain: Callable[[str], None]) -> Sent:
    """From the mark to the end. Stopped, the same call goes on where it was."""
    told, under_way = Sent(), deque[tuple[int, list[tuple[int, Future[str] | None]]]]()
    size = Path(lines.name).stat().st_size if isinstance(lines.name, str) and Path(lines.name).is_file() else None
    with _progress(size) as progress:
        task = progress.add_task("sending", total=size, completed=mark.offset)
        for chunk in _chunks(_numbered(lines, mark.offset)):
            end = chunk[-1][0] + len(chunk[-1][1])
            under_way.append((end, [(offset, _begin(client, mark, offset, line, make)) for offset, line in chunk]))
            while len(under_way) > UNDER_WAY:
                _settle(under_way.popleft(), mark, told, complain)
                progress.update(task, completed=mark.offset)
        while under_way:
            _settle(under_way.popleft(), mark, told, complain)
            progress.update(task, completed=mark.offset)
    return told


def _progress(size: int | None) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    # On a pipe into another program a bar would only be noise.
    from rich.console import Console

    return Progress(*columns, console=Console(stderr=True), disable=size is None or not sys.stderr.isatty())


def _numbered(lines: IO[bytes], offset: int) -> Iterator[Line]:
    for line in lines:
        if line.strip():
            yield offset, line
        offset += len(line)


def _chunks(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while chunk := list(islice(lines, BATCH)):
        yield chunk


def _begin(client: Client, mark: Mark, offset: int, line: bytes, make: Make) -> "Future[str] | None":
    try:
        event = make(line)
    except ValueError as error:
        failed: Future[str] = Future()
        failed.set_exception(error if isinstance(error, Refused) else Refused("malformed", str(error)))
        return failed
    return None if event is None else client.send({"event_id": mark.event_id(offset, line)} | event)


def _settle(
    batch: "tuple[int, list[tuple[int, Future[str] | None]]]", mark: Mark, told: Sent, complain: Callable[[str], None]
) -> None:
    end, events = batch
    for offset, future in events:
        try:
            if future is None:
                told.passed_over += 1
                continue
            future.result()
            told.sent += 1
        except Refused as error:
            told.refused += 1
            complain(f"the event at byte {offset} was refused: {error}")
    mark.move(end)
