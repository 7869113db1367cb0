"""A post that is answered on its connection, without ASGI, which costs a request more than taking its event does.

What is rare, or is refused by its head, goes to the application: there each rule of HTTP has its one place. A sender
who says the same head again, but for the length, is not parsed again: the same bytes mean the same.
"""

import asyncio
import re
import time
from collections.abc import Coroutine
from typing import Any, NamedTuple

import httptools
from uvicorn.protocols.http.httptools_impl import HEADER_VALUE_RE, STATUS_LINE

from penstock.collect.accepting import Accepting, Post
from penstock.collect.asgi import Answer
from penstock.collect.refusal import Refusal
from penstock.collect.together import Together
from penstock.collect.wire import Wire, bounded

PATH = b"/v1/"
# Each of these has rules of its own.
RARE = frozenset({b"prefer", b"expect", b"upgrade", b"transfer-encoding"})

# A head's own line with its length, which is the only one: the parser refuses two.
TOLD = re.compile(rb"\r\ncontent-length: *([0-9]{1,7})\r\n", re.IGNORECASE)

LENGTH = b"content-length: %d\r\n"
CLOSE = b"connection: close\r\n"


class Nobody:
    """Whom uvicorn wakes when a connection is lost: nothing here waits for its words."""

    def set(self) -> None: ...


class Known(NamedTuple):
    """The last head of a connection, without the digits of its length, and what it means."""

    before: bytes
    after: bytes
    post: Post

    def body(self, data: bytes, limit: int) -> bytes | None:
        """The body of a post that has this head, if that is all that came, and may."""
        begin = len(self.before)
        end = data.find(b"\r", begin)
        if not (data.startswith(self.before) and data.startswith(self.after, end)):
            return None
        digits, begins = data[begin:end], end + len(self.after)
        if not (digits.isdigit() and len(digits) < 8 and int(digits) == len(data) - begins <= limit):
            return None
        return data[begins:]


def known(data: bytes, body: bytes, post: Post) -> Known | None:
    """What to remember of a post that came at once and alone, as the parser understood it."""
    begins = data.find(b"\r\n\r\n") + 4
    told = TOLD.search(data, 0, begins) if data[begins:] == body else None
    return told and Known(data[: told.start(1)], data[told.end(1) : begins], post)


class Posted:
    """One post, and what uvicorn asks of the request that a connection is at."""

    __slots__ = ("_way", "_wire", "disconnected", "keep_alive", "post", "response_complete")

    message_event = Nobody()

    def __init__(self, wire: "PostWire", post: Post, keep_alive: bool) -> None:
        self._wire = wire
        self.post = post
        self._way: Coroutine[Any, Any, Answer]
        self.keep_alive = keep_alive
        self.disconnected = False
        self.response_complete = False

    @property
    def response_started(self) -> bool:
        return self.response_complete

    def begin(self, body: bytes) -> None:
        """The body is complete."""
        self._way = self._wire.accepting.answer(self.post, body)
        self._go_on(None)

    def _go_on(self, _: object) -> None:
        """As a task would, but without one: most posts wait for nothing but the log."""
        try:
            waited = self._way.send(None)
        except StopIteration as over:
            self._answer(over.value)
        except BaseException:
            self._wire.transport.close()
            raise
        else:
            self._wait(waited)

    def _wait(self, waited: "asyncio.Future[Any] | None") -> None:
        if waited is None:
            self._wire.loop.call_soon(self._go_on, None)
            return
        # What a task does to take over what a coroutine awaits.
        waited._asyncio_future_blocking = False
        waited.add_done_callback(self._go_on)

    def _answer(self, answer: Answer) -> None:
        self.response_complete = True
        wire = self._wire
        if self.disconnected or wire.transport.is_closing():
            return
        head = STATUS_LINE[answer.status] + LENGTH % len(answer.body)
        for name, value in answer.headers:
            if HEADER_VALUE_RE.search(value):
                wire.transport.close()
                raise ValueError(f"an answer cannot have {value!r} in its head")
            head += b"%b: %b\r\n" % (name, value)
        if self.keep_alive:
            wire.transport.write(b"%b\r\n%b" % (head, answer.body))
            wire.answered()
        else:
            wire.transport.write(b"%b%b\r\n%b" % (head, CLOSE, answer.body))
            wire.transport.close()


class PostWire(Wire):
    """A connection that answers posts itself. `accepting` and `together` belong to the class `posting` makes."""

    accepting: Accepting
    together: Together
    _posted: Posted | None = None
    _body: list[bytes]
    # What came at once after a post, until the parser is through it, and whether it is: only then may it be left out.
    _came = b""
    _rests = True
    _known: Known | None = None
    # A longer head is parsed each time: each connection would keep its own.
    longest_known = 2048

    def data_received(self, data: bytes) -> None:
        known = self._known
        body = known.body(data, self.limits.body) if known and self._rests and not self._busy() else None
        if known and body is not None:
            self.answered_at = 0.0
            self.cycle = posted = Posted(self, known.post, True)  # type: ignore[assignment]
            self.together.take(posted.begin, body, self.loop)
        else:
            self._came = data if self._rests else b""
            super().data_received(data)

    def on_message_begin(self) -> None:
        self._rests = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._posted = self._short()
        if self._posted is None:
            super().on_headers_complete()
        else:
            self.hear_body()
            self._body = []
            self.cycle = self._posted  # type: ignore[assignment]

    def _short(self) -> Posted | None:
        """A post that is answered here; None where it is the application's to read, queue or refuse."""
        if self.parser.get_method() != b"POST" or self.too_large() or self._busy():
            return None
        headers = dict(self.headers)
        length = headers.get(b"content-length")
        if length is None or int(length) > self.limits.body or not RARE.isdisjoint(headers):
            return None
        try:
            post = self._post(headers)
        except Refusal:
            return None
        if post.kind == "avro":
            return None
        return Posted(self, post, self.parser.get_http_version() != "1.0" and self.parser.should_keep_alive())

    def _busy(self) -> bool:
        """Whether an answer is under way, or waits for its reader."""
        return self.flow.write_paused or (self.cycle is not None and not self.cycle.response_complete)

    def _post(self, headers: dict[bytes, bytes]) -> Post:
        path, _, asked = self.url.partition(b"?")
        if not path.startswith(PATH):
            raise Refusal("not_found")
        if asked:
            asked = httptools.parse_url(self.url).query or b""
        return self.accepting.post(path[len(PATH) :].decode("latin-1"), headers, self._peer, asked)

    def on_body(self, body: bytes) -> None:
        if self._posted is None:
            super().on_body(body)
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        posted = self._posted
        if posted is None:
            super().on_message_complete()
            return
        self.hear_head()
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        # A connection that rests keeps no body.
        self._body.clear()
        if posted.keep_alive:
            self._rests = True
            small = len(self._came) - len(body) <= self.longest_known
            self._known = known(self._came, body, posted.post) if small else None
        self._came = b""
        self.together.take(posted.begin, body, self.loop)

    def answered(self) -> None:
        """What was sent meanwhile is next, or else the connection rests."""
        if self.pipeline:
            self.on_response_complete()
        else:
            self.answered_at = time.monotonic()


def posting(accepting: Accepting) -> type[Wire]:
    """The class of one collector's connections."""
    access = accepting.access
    wire = bounded(access.limits, accepting.metrics, access.trusted)
    return type("BoundedPostWire", (wire, PostWire), {"accepting": accepting, "together": Together(accepting.at_once)})
