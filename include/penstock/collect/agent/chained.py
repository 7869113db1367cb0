"""The source that other agents send to: what a collector's edge takes, answered when this agent's channel has it.

So a chain of agents is as safe as its links: nobody lets go of a batch before the next one holds it.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import orjson
import uvicorn

from penstock.collect.agent.formats import Event
from penstock.collect.asgi import JSON, PROBLEM, Receive, Scope, Send, answer
from penstock.collect.body import Gone, inflate, read
from penstock.collect.events import split
from penstock.collect.ids import uuid7s
from penstock.collect.limits import Limits
from penstock.collect.metrics import Metrics
from penstock.collect.refusal import Refusal, problem
from penstock.collect.wire import bounded, sweep

# Requests that wait for the channel, and senders at once; who is too many is told to come back.
WAITING, SENDERS = 16, 256


class Server(uvicorn.Server):
    """Ends with the agent, whose signals are not its business."""

    def capture_signals(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        return contextlib.nullcontext()


class Chained:
    """`POST /v1/{anything}` on a port of its own, from an agent's `http` sink or from anybody who speaks to an edge."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._limits = Limits(connections=SENDERS)
        self._taken: asyncio.Queue[tuple[list[Event], asyncio.Future[None]]] = asyncio.Queue(WAITING)
        self._given: list[asyncio.Future[None]] = []
        self._config = uvicorn.Config(
            self,
            host,
            port,
            http=bounded(self._limits, Metrics(), lambda _: False),
            lifespan="off",
            log_config=None,
            access_log=False,
        )

    async def batches(self) -> AsyncIterator[list[Event]]:
        server = Server(self._config)
        serving = asyncio.gather(server.serve(), sweep(server.server_state.connections))
        try:
            while True:
                events, safe = await self._taken.get()
                self._given.append(safe)
                yield events
        finally:
            serving.cancel()

    def safe(self) -> None:
        while self._given:
            safe = self._given.pop()
            if not safe.done():
                safe.set_result(None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await answer(send, 202, orjson.dumps(await self._post(scope, receive)), [JSON])
        except Gone:
            return
        except Refusal as refusal:
            status, body = problem(refusal.reason, refusal.detail)
            await answer(send, status, body, [PROBLEM])

    async def _post(self, scope: Scope, receive: Receive) -> dict[str, object]:
        if scope["type"] != "http" or scope["method"] != "POST" or not scope["path"].startswith("/v1/"):
            raise Refusal("not_found")
        headers = dict(scope["headers"])
        body = await read(receive, headers.get(b"content-length"), self._limits.body)
        plain = inflate(body, headers.get(b"content-encoding", b""), self._limits)
        lines = b"ndjson" in headers.get(b"content-type", b"")
        kept, refused = split(plain, lines, self._limits)
        ids = iter(uuid7s(len(kept)))
        events = [{"event_id": next(ids), **event} for _, _, event in kept]
        if events:
            safe = asyncio.get_running_loop().create_future()
            await self._taken.put((events, safe))
            await safe
        told: dict[str, object] = {"accepted": len(events), "ids": [event["event_id"] for event in events]}
        return told | {"refused": [one.told() for one in refused]}
