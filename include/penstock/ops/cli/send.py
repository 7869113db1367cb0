"""`penstock send`: files or a pipe of NDJSON into a source, at a pace that the collector sets; can be resumed."""

import hashlib
import json
import sys
import uuid
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any

import orjson
import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from penstock.client import BATCH, Client, NotSent, Refused
from penstock.ops import cli
from penstock.ops.refusal import Refusal
from penstock.settings import Settings

# Batches under way at once; what is remembered is what all before them have been acknowledged for.
UNDER_WAY = 4
IDS = uuid.UUID("b7a4dc0e-53a0-5b4b-9d35-0f4ae5f7a1c2")

Line = tuple[int, bytes]


def register(app: typer.Typer) -> None:
    app.command()(send)


def send(
    file: Annotated[str, typer.Argument(help="NDJSON, one event a line; - for standard input.")],
    source: Annotated[str, typer.Option(help="The source that the events belong to.")] = "web.events",
    url: Annotated[str, typer.Option(help="The collector; this home's by default.")] = "",
    key: Annotated[str, typer.Option(help="A write key, where the collector asks for one.")] = "",
    restart: Annotated[bool, typer.Option(help="From the beginning, even if a part was sent before.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document at the end.")] = False,
) -> None:
    """Send events from a file. If it is stopped, the same command goes on where it was.

    Status 1 when events were refused (each is named on standard error), 4 when the collector cannot be reached."""
    settings = Settings.from_env()
    mark = Mark(settings.home / "run" / "send", file, source, restart)
    with _opened(file) as lines, Client(url or f"http://127.0.0.1:{settings.collector_port}", source, key) as client:
        lines.seek(mark.offset) if file != "-" else None
        size = Path(file).stat().st_size if file != "-" else None
        try:
            sent, refused = _send_all(client, lines, mark, size)
        except NotSent as error:
            cli.complain(f"{error}. What was acknowledged is remembered: run the same command again.")
            raise typer.Exit(cli.NOT_RUNNING) from error
    told = {"sent": sent, "refused": refused, "file": file, "source": source}
    cli.say(told) if as_json else sys.stdout.write(f"{sent} events sent, {refused} refused\n")
    raise typer.Exit(cli.UNWELL if refused else 0)


def _opened(file: str) -> IO[bytes]:
    if file == "-":
        return sys.stdin.buffer
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise Refusal(f"{file} cannot be read ({error.strerror}). Name a file of NDJSON, or - for a pipe.") from error


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


def _send_all(client: Client, lines: IO[bytes], mark: Mark, size: int | None) -> tuple[int, int]:
    sent = refused = 0
    under_way: deque[tuple[int, list[tuple[int, Future[str]]]]] = deque()
    with _progress(size) as progress:
        task = progress.add_task("sending", total=size, completed=mark.offset)
        for chunk in _chunks(_numbered(lines, mark.offset)):
            end = chunk[-1][0] + len(chunk[-1][1])
            under_way.append((end, [(offset, _begin(client, mark, offset, line)) for offset, line in chunk]))
            while len(under_way) > UNDER_WAY:
                sent, refused = _settle(under_way.popleft(), mark, sent, refused)
                progress.update(task, completed=mark.offset)
        while under_way:
            sent, refused = _settle(under_way.popleft(), mark, sent, refused)
            progress.update(task, completed=mark.offset)
    return sent, refused


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


def _begin(client: Client, mark: Mark, offset: int, line: bytes) -> "Future[str]":
    try:
        event: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _failed(Refused("malformed", str(error)))
    if not isinstance(event, dict):
        return _failed(Refused("not_an_object", "an event is a JSON object"))
    return client.send({"event_id": mark.event_id(offset, line)} | event)


def _failed(error: Exception) -> "Future[str]":
    future: Future[str] = Future()
    future.set_exception(error)
    return future


def _settle(batch: tuple[int, list[tuple[int, "Future[str]"]]], mark: Mark, sent: int, refused: int) -> tuple[int, int]:
    end, events = batch
    for offset, future in events:
        try:
            future.result()
            sent += 1
        except Refused as error:
            refused += 1
            cli.complain(f"the event at byte {offset} was refused: {error}")
    mark.move(end)
    return sent, refused
