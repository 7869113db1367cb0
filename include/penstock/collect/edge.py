"""The HTTP edge: what each path is, over ASGI. How an event is taken is in accepting.py.

Most posts do not come this way: wire.py answers them itself (posted.py).
"""

import logging

from penstock.collect import pages
from penstock.collect.accepting import Accepting
from penstock.collect.asgi import Answer, Receive, Scope, Send, answer, query
from penstock.collect.body import Gone, read
from penstock.collect.later import Answers
from penstock.collect.refusal import Refusal
from penstock.collect.registry.desk import Desk
from penstock.collect.subscribe import Subscriptions

log = logging.getLogger("penstock.collect")


class Edge:
    """The ASGI application. What it needs is passed in; it holds no state of its own."""

    def __init__(self, accepting: Accepting, answers: Answers, subscriptions: Subscriptions, registry: Desk) -> None:
        self.accepting = accepting
        self.answers = answers
        self.subscriptions = subscriptions
        self.registry = registry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        try:
            status = await self._route(scope, headers, receive, send)
        except Gone:
            return
        except Exception as error:
            status = await answer(send, *self.accepting.failed(error, headers))
        self.accepting.metrics.add("penstock_requests_total", status=str(status))

    async def _route(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> int:
        method, path = scope["method"], scope["path"]
        if scope["state"].get("headers_too_large"):
            raise Refusal("headers_too_large")
        if path.startswith("/v1/") and method == "POST":
            return await answer(send, *await self._post(path[4:], scope, headers, receive))
        if path.startswith("/registry/"):
            return await self.registry.answer(method, path[9:], headers, receive, send)
        if method == "OPTIONS":
            return await self._preflight(headers, send)
        if method not in ("GET", "HEAD"):
            raise Refusal("method_not_allowed")
        if path.startswith("/v1/") and path.endswith("/pixel.gif"):
            return await self._pixel(path[4:-10], scope, headers, send)
        if path.startswith("/v1/") and path.endswith("/subscribe"):
            source = self.accepting.source(path[4:-10])
            self.accepting.key(source, headers, scope["query_string"])
            asked = query(scope["query_string"]).get("from", "now")
            start = headers.get(b"last-event-id", b"").decode("latin-1") or asked
            return await self.subscriptions.sse(source.name, start, self.accepting.cors(headers), receive, send)
        return await pages.answer_page(self, path, headers, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The same subscription over a websocket; a refusal closes it before it is open."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        path, asked = scope["path"], scope["query_string"]
        try:
            if not (path.startswith("/v1/") and path.endswith("/subscribe")):
                raise Refusal("not_found")
            source = self.accepting.source(path[4:-10])
            self.accepting.key(source, headers, asked)
            await self.subscriptions.websocket(source.name, query(asked).get("from", "now"), receive, send)
        except Refusal as refusal:
            self.accepting.metrics.add("penstock_refused_total", reason=refusal.reason)
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.reason})
        except Exception:
            log.exception("a subscription failed")
            await send({"type": "websocket.close", "code": 1011, "reason": "internal"})

    async def _post(self, name: str, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Answer:
        post = self.accepting.post(name, headers, scope["client"][0], scope["query_string"])
        body = await read(receive, headers.get(b"content-length"), self.accepting.access.limits.body)
        return await self.accepting.take(post, body)

    async def _preflight(self, headers: dict[bytes, bytes], send: Send) -> int:
        cors = self.accepting.cors(headers)
        if cors:
            allowed = b"authorization, content-type, content-encoding, prefer, x-penstock-consent"
            cors = (
                *cors,
                (b"access-control-allow-methods", b"GET, POST"),
                (b"access-control-allow-headers", allowed),
                (b"access-control-max-age", b"3600"),
            )
        return await answer(send, 204, b"", cors)

    async def _pixel(self, name: str, scope: Scope, headers: dict[bytes, bytes], send: Send) -> int:
        """One-way: the query is the event. The image comes at once, whatever becomes of the event."""
        asked, taking = scope["query_string"], self.accepting
        source = taking.source(name)
        key = taking.key(source, headers, asked)
        event = {field: value for field, value in query(asked).items() if field != "key"}
        records, events = taking.pixel(taking.posted(source, key, "json", headers, scope["client"][0]), event)
        await answer(send, 200, pages.GIF, [(b"content-type", b"image/gif"), (b"cache-control", b"no-store")])
        if records:
            await taking.keep_unanswered(source, records, events)
        return 200
