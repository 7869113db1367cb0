"""One post, from what its head says to an answer. See `Accepting.take` for the whole of it.

events.py splits a body and checks each event, envelope.py says what we know of it and seals it, keeping.py puts it
on the log or in the spool; only then is there a 202.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from penstock.collect.access import Access, WriteKey
from penstock.collect.asgi import JSON, PROBLEM, Answer, Headers, query
from penstock.collect.body import inflate
from penstock.collect.envelope import AVRO, Sealing, common, framed, received, seal
from penstock.collect.events import Event, split
from penstock.collect.keeping import Keeping, Unsafe
from penstock.collect.later import Answers
from penstock.collect.metrics import Metrics
from penstock.collect.places import Places
from penstock.collect.receipts import Receipt
from penstock.collect.refusal import Refusal, Refused, problem
from penstock.log.producer import Envelope, Record
from penstock.model.source import Source

log = logging.getLogger("penstock.collect")

# What a body is; text/plain because sendBeacon and form-less CORS can send nothing else without a preflight.
KINDS = {
    b"application/json": "json",
    b"text/plain": "json",
    b"application/x-ndjson": "lines",
    b"application/ndjson": "lines",
    b"application/jsonl": "lines",
    AVRO: "avro",
}
RETRY_SECONDS = 5


class Post(NamedTuple):
    """What the head of a post says, once it may come: whose events, of what kind, and what is known of them by it."""

    source: Source
    key: WriteKey
    kind: str
    headers: Mapping[bytes, bytes]
    envelope: Envelope


class Accepting:
    """Takes events. What it needs is passed in; it holds no state of its own."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        access: Access,
        keeping: Keeping,
        metrics: Metrics,
        answers: Answers,
        sealing: Sealing,
        places: Places,
    ) -> None:
        self.sources = sources
        self.access = access
        self.keeping = keeping
        self.metrics = metrics
        self._answered = metrics.counter("penstock_requests_total", "status")
        self._answers = answers
        self._sealing = sealing
        self.at_once = sealing.at_once
        self._places = places

    def post(self, name: str, headers: Mapping[bytes, bytes], peer: str, asked: bytes) -> Post:
        """Whether a post may come at all, before its body is read."""
        source = self.source(name)
        key = self.key(source, headers, asked)
        content_type = headers.get(b"content-type", b"")
        kind = KINDS.get(content_type) or KINDS.get(content_type.partition(b";")[0].strip().lower())
        if kind is None:
            raise Refusal("unknown_type")
        return self.posted(source, key, kind, headers, peer)

    def posted(self, source: Source, key: WriteKey, kind: str, headers: Mapping[bytes, bytes], peer: str) -> Post:
        place = self._places.of(self.access.address(peer, headers))
        return Post(source, key, kind, headers, common(source, AVRO if kind == "avro" else JSON[1], place, headers))

    async def answer(self, post: Post, body: bytes) -> Answer:
        """Whatever happens, there is an answer."""
        try:
            answer = await self.take(post, body)
        except Exception as error:
            answer = self.failed(error, post.headers)
        self._answered[(str(answer.status),)] += 1
        return answer

    async def take(self, post: Post, body: bytes) -> Answer:
        """One post: split, seal, keep, answer."""
        source, key, kind, headers, envelope = post
        envelope = received(envelope)
        encoding = headers.get(b"content-encoding")
        if encoding:
            body = inflate(body, encoding.strip().lower(), self.access.limits)
        events: list[Event] = [(0, body, {})]
        if kind == "avro":
            records, ids, refused = framed(source, body, envelope)
        else:
            events, refused = split(body, kind == "lines", self.access.limits)
            records, ids, misfits = seal(source, events, envelope, self.access.limits)
            refused += misfits
        key.spend(len(records))
        if refused:
            self._count(refused)
        if not records:
            return self._none(refused, headers)
        records = await self._sealing.sealed(source, records, events, refused)
        # Parsed they are many times as large as they came, and the log takes its time.
        events.clear()
        prefer = headers.get(b"prefer")
        kept = await self.keeping.keep(records, placed=prefer is not None)
        told: dict[str, object] = {"accepted": len(ids), "ids": ids}
        if refused:
            told["refused"] = [one.told() for one in sorted(refused, key=lambda one: one.index)]
        status, more = 202, [JSON, *self.cors(headers)]
        if prefer is not None:
            receipt = Receipt(source.name, [] if kept.positions else ids, kept.positions)
            status = await self._answers.prefer(prefer, receipt, told, more)
        return Answer(status, orjson.dumps(told), more)

    def pixel(self, post: Post, event: Mapping[str, str]) -> tuple[list[Record], list[Event]]:
        """The record of an event that came as a query, if there is one."""
        post.key.spend(1)
        events, refused = split(orjson.dumps(event), False, self.access.limits)
        records, _, misfits = seal(post.source, events, received(post.envelope), self.access.limits)
        self._count([*refused, *misfits])
        return records, events

    async def keep_unanswered(self, source: Source, records: list[Record], events: list[Event]) -> None:
        """The sender has his image already: what cannot be kept can only be counted."""
        try:
            await self.keeping.keep(await self._sealing.sealed(source, records, events))
        except (Refusal, Unsafe) as error:
            self.metrics.add("penstock_refused_total", reason=getattr(error, "reason", "unsafe"))

    def source(self, name: str) -> Source:
        source = self.sources.get(name)
        if source is None:
            raise Refusal("unknown_source")
        return source

    def key(self, source: Source, headers: Mapping[bytes, bytes], asked: bytes) -> WriteKey:
        """The write key shown in the header or, where a page cannot set one, in the query."""
        if not self.access.keys:
            return self.access.everyone
        shown = headers.get(b"authorization", b"").decode("latin-1")
        secret = shown[7:] if shown[:7].lower() == "bearer " else query(asked).get("key", "")
        key = self.access.key(secret, source.name)
        origin = headers.get(b"origin")
        if origin is not None and not key.allows(origin.decode("latin-1")):
            raise Refusal("origin_refused")
        return key

    def cors(self, headers: Mapping[bytes, bytes]) -> Headers:
        origin = headers.get(b"origin")
        if origin is None or not self.access.origin_known(origin.decode("latin-1")):
            return ()
        return ((b"access-control-allow-origin", origin), (b"vary", b"origin"))

    def failed(self, error: Exception, headers: Mapping[bytes, bytes]) -> Answer:
        """What a sender is told of a request that came to nothing."""
        if isinstance(error, Refusal):
            reason, detail, retry = error.reason, error.detail, error.retry_after
        elif isinstance(error, Unsafe):
            reason, detail, retry = "unsafe", str(error), RETRY_SECONDS
        else:
            log.error("a request failed", exc_info=error)
            reason, detail, retry = "internal", "", RETRY_SECONDS
        self.metrics.add("penstock_refused_total", reason=reason)
        status, body = problem(reason, detail)
        more = [(b"retry-after", str(retry).encode())] if retry else []
        return Answer(status, body, [PROBLEM, *more, *self.cors(headers)])

    def _count(self, refused: Sequence[Refused]) -> None:
        for one in refused:
            self.metrics.add("penstock_refused_total", reason=one.reason)

    def _none(self, refused: list[Refused], headers: Mapping[bytes, bytes]) -> Answer:
        """No event of the request could be kept: the first reason is the answer's."""
        if not refused:
            raise Refusal("malformed", "There is no event in the body.")
        status, body = problem(refused[0].reason, refused=refused)
        return Answer(status, body, [PROBLEM, *self.cors(headers)])
