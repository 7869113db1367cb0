"""Publish/subscribe: `GET /v1/{source}/subscribe`, as server-sent events or a websocket."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from penstock.collect.asgi import Headers, Receive, Send
from penstock.collect.following import Follower
from penstock.collect.metrics import Metrics
from penstock.collect.refusal import Refusal
from penstock.keys.store import Keys

# A quiet line says that it is alive, and a slow reader learns how far behind it is, this often.
ALIVE = 15.0
TELL = 1.0
SSE: Headers = ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"))

Say = Callable[[str, bytes, str], Awaitable[None]]


class Subscriptions:
    """Every open subscription, so that there are never too many and all end when the collector does."""

    def __init__(self, kafka: str, keys: Keys, most: int, metrics: Metrics) -> None:
        self._kafka = kafka
        self._keys = keys
        self._most = most
        # Followers block in their client, which must not hold up anything else.
        self._threads = ThreadPoolExecutor(most, "follower")
        self._open = 0
        self._over = asyncio.Event()
        metrics.gauge("penstock_subscribers", lambda: float(self._open))

    def end(self) -> None:
        self._over.set()

    @contextlib.asynccontextmanager
    async def _follower(self, source: str, start: str) -> AsyncIterator[Follower]:
        if self._open >= self._most:
            raise Refusal("too_fast", "There are too many subscribers.", retry_after=10)
        self._open += 1
        follower = Follower(self._kafka, self._keys, source, start, self._threads)
        try:
            await follower.open()
            yield follower
        finally:
            self._open -= 1
            await follower.close()

    async def sse(self, source: str, start: str, cors: Headers, receive: Receive, send: Send) -> int:
        async def say(kind: str, data: bytes, cursor: str) -> None:
            text = b": alive\n\n" if kind == "alive" else _sse(kind, data, cursor)
            await send({"type": "http.response.body", "body": text, "more_body": True})

        async with self._follower(source, start) as follower:
            await send({"type": "http.response.start", "status": 200, "headers": [*SSE, *cors]})
            await say("alive", b"", "")
            await self._pump(follower, say, _gone(receive, "http.disconnect"))
            await send({"type": "http.response.body", "body": b""})
        return 200

    async def websocket(self, source: str, start: str, receive: Receive, send: Send) -> None:
        async def say(kind: str, data: bytes, cursor: str) -> None:
            text = b'{"%b":%b}' % (kind.encode(), data or b"null")
            await send({"type": "websocket.send", "text": text.decode()})

        await receive()
        async with self._follower(source, start) as follower:
            await send({"type": "websocket.accept"})
            await self._pump(follower, say, _gone(receive, "websocket.disconnect"))
            with contextlib.suppress(RuntimeError):
                await send({"type": "websocket.close", "code": 1001})

    async def _pump(self, follower: Follower, say: Say, gone: Awaitable[None]) -> None:
        """Sends as fast as the reader reads: `say` returns when there is room for more."""
        leaving = asyncio.ensure_future(gone)
        told = said = time.monotonic()
        try:
            while not leaving.done() and not self._over.is_set():
                for document, cursor in await follower.take():
                    await say("record", document, cursor)
                    said = time.monotonic()
                now = time.monotonic()
                if now - told > TELL and (behind := await follower.behind()):
                    await say("behind", str(behind).encode(), follower.cursor())
                    told = said = now
                elif now - said > ALIVE:
                    await say("alive", b"", "")
                    said = now
        finally:
            leaving.cancel()


def _sse(kind: str, data: bytes, cursor: str) -> bytes:
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (cursor.encode(), kind.encode(), data)


async def _gone(receive: Receive, kind: str) -> None:
    while (await receive())["type"] != kind:
        pass
