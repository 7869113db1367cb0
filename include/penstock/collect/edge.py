"""The HTTP edge: one event's way from the wire to an answer. See `post` for the whole of it.

events.py splits a body and checks each event, envelope.py says what we know of it and seals it, keeping.py puts it
on the log or in the spool; only then is there a 202.
"""

import logging
from collections.abc import Mapping

import orjson

from penstock.collect import pages
from penstock.collect.access import Access, WriteKey
from penstock.collect.asgi import JSON, PROBLEM, Headers, Receive, Scope, Send, answer, query
from penstock.collect.body import Gone, inflate, read
from penstock.collect.envelope import Sealing, common, framed, seal
from penstock.collect.events import Event, split
from penstock.collect.keeping import Keeping, Kept, Unsafe
from penstock.collect.later import Answers
from penstock.collect.metrics import Metrics
from penstock.collect.places import Places
from penstock.collect.receipts import Receipt
from penstock.collect.refusal import Refusal, Refused, problem
from penstock.collect.registry.desk import Desk
from penstock.collect.subscribe import Subscriptions
from penstock.log.producer import NeverTaken, Record
from penstock.model.source import Source

log = logging.getLogger("penstock.collect")

# What a body is; text/plain because sendBeacon and form-less CORS can send nothing else without a preflight.
KINDS = {
    b"application/json": "json",
    b"text/plain": "json",
    b"application/x-ndjson": "lines",
    b"application/ndjson": "lines",
    b"application/jsonl": "lines",
    b"application/avro": "avro",
}
RETRY_SECONDS = 5


class Edge:
    """The ASGI application. What it needs is passed in; it holds no state of its own."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        access: Access,
        keeping: Keeping,
        metrics: Metrics,
        answers: Answers,
        subscriptions: Subscriptions,
        registry: Desk,
        sealing: Sealing,
        places: Places,
    ) -> None:
        self.places = places
        self.registry = registry
        self.sealing = sealing
        self.sources = sources
        self.answers = answers
        self.subscriptions = subscriptions
        self.access = access
        self.keeping = keeping
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        try:
            status = await self._route(scope, headers, receive, send)
        except Gone:
            return
        except Refusal as refusal:
            status = await self._refuse(send, refusal.reason, refusal.detail, headers, retry=refusal.retry_after)
        except Unsafe as unsafe:
            status = await self._refuse(send, "unsafe", str(unsafe), headers, retry=RETRY_SECONDS)
        except Exception:
            log.exception("a request failed")
            status = await self._refuse(send, "internal", "", headers, retry=RETRY_SECONDS)
        self.metrics.add("penstock_requests_total", status=str(status))

    async def _route(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> int:
        method, path = scope["method"], scope["path"]
        if scope["state"].get("headers_too_large"):
            raise Refusal("headers_too_large")
        if path.startswith("/v1/") and method == "POST":
            return await self.post(path[4:], scope, headers, receive, send)
        if path.startswith("/registry/"):
            return await self.registry.answer(method, path[9:], headers, receive, send)
        if method == "OPTIONS":
            return await self._preflight(headers, send)
        if method not in ("GET", "HEAD"):
            raise Refusal("method_not_allowed")
        if path.startswith("/v1/") and path.endswith("/pixel.gif"):
            return await self._pixel(path[4:-10], scope, headers, send)
        if path.startswith("/v1/") and path.endswith("/subscribe"):
            source = self._source(path[4:-10])
            self._key(source, scope, headers)
            start = headers.get(b"last-event-id", b"").decode("latin-1") or query(scope).get("from", "now")
            return await self.subscriptions.sse(source.name, start, self._cors(headers), receive, send)
        return await pages.answer_page(self, path, headers, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The same subscription over a websocket; a refusal closes it before it is open."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        path = scope["path"]
        try:
            if not (path.startswith("/v1/") and path.endswith("/subscribe")):
                raise Refusal("not_found")
            source = self._source(path[4:-10])
            self._key(source, scope, headers)
            await self.subscriptions.websocket(source.name, query(scope).get("from", "now"), receive, send)
        except Refusal as refusal:
            self.metrics.add("penstock_refused_total", reason=refusal.reason)
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.reason})
        except Exception:
            log.exception("a subscription failed")
            await send({"type": "websocket.close", "code": 1011, "reason": "internal"})

    async def post(self, name: str, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> int:
        """One request: read, split, seal, keep, answer."""
        source = self._source(name)
        key = self._key(source, scope, headers)
        limits = self.access.limits
        content_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        kind = KINDS.get(content_type)
        if kind is None:
            raise Refusal("unknown_type")
        body = await read(receive, headers.get(b"content-length"), limits.body)
        encoding = headers.get(b"content-encoding")
        if encoding:
            body = inflate(body, encoding.strip().lower(), limits)
        envelope = common(
            source, content_type, self.places.of(self.access.address(scope["client"][0], headers)), headers
        )
        events: list[Event] = [(0, body, {})]
        if kind == "avro":
            records, ids, refused = framed(source, body, envelope)
        else:
            events, refused = split(body, kind == "lines", limits)
            records, ids, misfits = seal(source, events, envelope, limits)
            refused += misfits
        key.spend(len(records))
        if refused:
            self._count_refused(refused)
        if not records:
            return await self._refuse_all(send, refused, headers)
        records = await self.sealing.sealed(source, records, events, refused)
        prefer = headers.get(b"prefer")
        kept = await self._keep(source, records, placed=prefer is not None)
        told: dict[str, object] = {"accepted": len(ids), "ids": ids}
        if refused:
            told["refused"] = [one.told() for one in sorted(refused, key=lambda one: one.index)]
        status, more = 202, [JSON, *self._cors(headers)]
        if prefer is not None:
            receipt = Receipt(source.name, [] if kept.positions else ids, kept.positions)
            status = await self.answers.prefer(prefer, receipt, told, more)
        await answer(send, status, orjson.dumps(told), more)
        return status

    async def _keep(self, source: Source, records: list[Record], placed: bool = False) -> Kept:
        try:
            kept = await self.keeping.keep(records, placed)
        except NeverTaken as error:
            raise Refusal("event_too_large", str(error)) from error
        self.metrics.add("penstock_accepted_total", len(records), source=source.name, kept=kept.where)
        return kept

    def _source(self, name: str) -> Source:
        source = self.sources.get(name)
        if source is None:
            raise Refusal("unknown_source")
        return source

    def _key(self, source: Source, scope: Scope, headers: dict[bytes, bytes]) -> WriteKey:
        """The write key shown in the header or, where a page cannot set one, in the query."""
        if not self.access.keys:
            return self.access.everyone
        shown = headers.get(b"authorization", b"").decode("latin-1")
        secret = shown[7:] if shown[:7].lower() == "bearer " else query(scope).get("key", "")
        key = self.access.key(secret, source.name)
        origin = headers.get(b"origin")
        if origin is not None and not key.allows(origin.decode("latin-1")):
            raise Refusal("origin_refused")
        return key

    def _cors(self, headers: dict[bytes, bytes]) -> Headers:
        origin = headers.get(b"origin")
        if origin is None or not self.access.origin_known(origin.decode("latin-1")):
            return ()
        return ((b"access-control-allow-origin", origin), (b"vary", b"origin"))

    async def _preflight(self, headers: dict[bytes, bytes], send: Send) -> int:
        cors = self._cors(headers)
        if cors:
            allowed = b"authorization, content-type, content-encoding, prefer, x-penstock-consent"
            cors = (
                *cors,
                (b"access-control-allow-methods", b"GET, POST"),
                (b"access-control-allow-headers", allowed),
                (b"access-control-max-age", b"3600"),
            )
        await answer(send, 204, b"", cors)
        return 204

    async def _pixel(self, name: str, scope: Scope, headers: dict[bytes, bytes], send: Send) -> int:
        """One-way: the query is the event. The image comes at once, whatever becomes of the event."""
        source = self._source(name)
        key = self._key(source, scope, headers)
        event = {field: value for field, value in query(scope).items() if field != "key"}
        key.spend(1)
        events, refused = split(orjson.dumps(event), False, self.access.limits)
        envelope = common(source, JSON[1], self.places.of(self.access.address(scope["client"][0], headers)), headers)
        records, _, misfits = seal(source, events, envelope, self.access.limits)
        self._count_refused([*refused, *misfits])
        await answer(send, 200, pages.GIF, [(b"content-type", b"image/gif"), (b"cache-control", b"no-store")])
        if records:
            await self._keep_unanswered(source, records, events)
        return 200

    async def _keep_unanswered(self, source: Source, records: list[Record], events: list[Event]) -> None:
        """The sender has his image already: what cannot be kept can only be counted."""
        try:
            await self._keep(source, await self.sealing.sealed(source, records, events))
        except (Refusal, Unsafe) as error:
            self.metrics.add("penstock_refused_total", reason=getattr(error, "reason", "unsafe"))

    def _count_refused(self, refused: list[Refused]) -> None:
        for one in refused:
            self.metrics.add("penstock_refused_total", reason=one.reason)

    async def _refuse(self, send: Send, reason: str, detail: str, headers: dict[bytes, bytes], retry: int = 0) -> int:
        self.metrics.add("penstock_refused_total", reason=reason)
        status, body = problem(reason, detail)
        more = [(b"retry-after", str(retry).encode())] if retry else []
        await answer(send, status, body, [PROBLEM, *more, *self._cors(headers)])
        return status

    async def _refuse_all(self, send: Send, refused: list[Refused], headers: dict[bytes, bytes]) -> int:
        """No event of the request could be kept: the first reason is the answer's."""
        if not refused:
            raise Refusal("malformed", "There is no event in the body.")
        status, body = problem(refused[0].reason, refused=refused)
        await answer(send, status, body, [PROBLEM, *self._cors(headers)])
        return status
