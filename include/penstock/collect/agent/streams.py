"""Connectors that pull: websocket, server-sent events, chunked NDJSON, polling. They come back by themselves.

What was missed between two connections is an event of its own, with `from`, `to` and `why`, unless the protocol could
go on where it stopped. The other fields of it are the source's setting, for what it goes to must take it for a fact.
"""

import asyncio
import random
import time
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson
import websockets

from penstock.collect.agent.formats import FORMATS, Event, parsed
from penstock.collect.agent.sources import BATCH, IDS, gathered

# Waits between attempts: doubled from the first to the last, and half of each is chance.
FIRST, LAST = 0.2, 30.0

Message = tuple[str, bool]
Connect = Callable[["Stream"], AsyncIterator[Message]]


class Silent(ConnectionError):
    """The source has said nothing for longer than it should."""


class Stream:
    """One connection at a time, followed by the next. `cursor` is where the source says to go on from."""

    def __init__(
        self, connect: Connect, url: str, format: str = "json", heartbeat: float = 30.0, gaps: Event | None = None
    ) -> None:
        self.url = url
        self.heartbeat = heartbeat
        self.cursor = ""
        self._gaps = custom_event(url) if gaps is None else gaps
        self._connect = connect
        self._parse = FORMATS[format]()
        self._queue: asyncio.Queue[Event] = asyncio.Queue(10 * BATCH)
        self._last = _now()
        self._why = ""

    async def batches(self) -> AsyncIterator[list[Event]]:
        pulling = asyncio.create_task(self._pull())
        try:
            while True:
                yield await gathered(self._queue)
        finally:
            pulling.cancel()

    def safe(self) -> None:
        pass

    async def _pull(self) -> None:
        failures = 0
        while True:
            try:
                async for text, resumed in self._heard():
                    await self._take(text, resumed)
                    failures = 0
                self._why = "the source ended"
            except (OSError, httpx.HTTPError, websockets.WebSocketException) as error:
                self._why = str(error) or type(error).__name__
            wait = min(LAST, FIRST * 2**failures)
            failures = min(failures + 1, 10)
            await asyncio.sleep(wait * (0.5 + random.random() / 2))  # noqa: S311 - jitter, not a secret

    async def _heard(self) -> AsyncIterator[Message]:
        messages = self._connect(self)
        while True:
            try:
                # Not wait_for: on Python 3.11 it can lose a cancellation.
                async with asyncio.timeout(self.heartbeat):
                    message = await anext(messages)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise Silent(f"nothing came for {self.heartbeat:g} s") from None
            yield message

    async def _take(self, text: str, resumed: bool) -> None:
        now = _now()
        if self._why:
            if not resumed:
                event_id = str(uuid.uuid5(IDS, f"{self.url}:{self._last}:{now}"))
                gap = {"event_id": event_id, "from": self._last, "to": now, "why": self._why}
                await self._queue.put(self._gaps | gap)
            self._why = ""
        self._last = now
        if text:
            event = parsed(self._parse, text)
            if event is not None:
                await self._queue.put(event)


def custom_event(url: str) -> Event:
    """A gap as `web.events` takes it, of a site and a visitor that nobody else is."""
    told = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(told.scheme, told.scheme)
    # The address without user and query, where there may be a secret.
    address = f"{scheme}://{told.netloc.rpartition('@')[2]}{told.path}"
    return {"type": "event", "name": "gap", "site": told.hostname, "visitor": "penstock agent", "url": address}


def _now() -> int:
    return time.time_ns() // 1_000_000


async def websocket(stream: Stream) -> AsyncIterator[Message]:
    async with websockets.connect(stream.url, max_size=1024 * 1024, ping_interval=stream.heartbeat / 2) as socket:
        async for message in socket:
            yield (message if isinstance(message, str) else message.decode(errors="replace")), False


async def server_sent(stream: Stream) -> AsyncIterator[Message]:
    """Resumes by Last-Event-ID where the source gives ids. Comments are its heartbeat."""
    resumed = bool(stream.cursor)
    headers = {"last-event-id": stream.cursor} if stream.cursor else {}
    data: list[str] = []
    cursor = stream.cursor
    async for line in _lines(stream.url, headers):
        name, _, told = line.partition(":")
        told = told.removeprefix(" ")
        if name == "data":
            data.append(told)
        elif name == "id":
            cursor = told
        elif not line and data:
            yield "\n".join(data), resumed
            stream.cursor = cursor
            data.clear()


async def ndjson(stream: Stream) -> AsyncIterator[Message]:
    """A firehose: lines for as long as the connection lasts. An empty line is its heartbeat."""
    async for line in _lines(stream.url, {}):
        yield line, False


async def poll(stream: Stream) -> AsyncIterator[Message]:
    """Asks again and again, several times a heartbeat; an ETag tells what is known already, so nothing is missed."""
    async with httpx.AsyncClient(timeout=stream.heartbeat) as client:
        while True:
            headers = {"if-none-match": stream.cursor} if stream.cursor else {}
            answer = await client.get(stream.url, headers=headers)
            yield "", True
            if answer.status_code != 304:
                answer.raise_for_status()
                told: Any = answer.json()
                for one in told if isinstance(told, list) else [told]:
                    yield orjson.dumps(one).decode(), True
                stream.cursor = answer.headers.get("etag", "")
            await asyncio.sleep(stream.heartbeat / 4)


async def _lines(url: str, headers: dict[str, str]) -> AsyncIterator[str]:
    timeout = httpx.Timeout(10, read=None)
    async with httpx.AsyncClient(timeout=timeout) as client, client.stream("GET", url, headers=headers) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            yield line


STREAMS: dict[str, Connect] = {"websocket": websocket, "sse": server_sent, "ndjson": ndjson, "poll": poll}
