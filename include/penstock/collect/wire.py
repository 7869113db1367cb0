"""Bounds on connections and on the bytes before a body, which uvicorn leaves to a proxy in front of it.

Each connection has at most one deadline; one sweep a second cuts those that are late. That costs a request nothing.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from penstock.collect.answering import Answering
from penstock.collect.limits import Limits
from penstock.collect.metrics import Metrics
from penstock.collect.refusal import problem

SWEEP = 0.5


class Wire(HttpToolsProtocol):
    """One connection. `limits`, `metrics`, `trusted` and `addresses` belong to the class `bounded` makes."""

    limits: Limits
    metrics: Metrics
    trusted: Callable[[str], bool]
    addresses: Counter[str]
    answering: Answering
    deadline = 0.0
    _header_bytes = 0
    _told_bytes = 0
    _in_headers = True
    _timed = True
    # When a request was answered after which nothing came: set by whoever does not leave that to uvicorn.
    answered_at = 0.0
    _peer = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.deadline = time.monotonic() + self.limits.header_seconds
        self.answering = Answering(transport, self.loop)
        self._peer = self.client[0] if self.client else ""
        self.addresses[self._peer] += 1
        many = self.addresses[self._peer] > self.limits.connections_per_address and not self.trusted(self._peer)
        if many or len(self.connections) > self.limits.connections:
            self.refuse("too_fast")

    def connection_lost(self, exc: Exception | None) -> None:
        self.addresses[self._peer] -= 1
        if not self.addresses[self._peer]:
            del self.addresses[self._peer]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_headers:
            self._header_bytes += len(data)
        super().data_received(data)
        if self._in_headers and self._header_bytes > self.limits.header_bytes:
            self.refuse("headers_too_large")
        elif not self._timed:
            # Only of a request that did not come whole: a clock is read for nobody else.
            self._timed = True
            seconds = self.limits.header_seconds if self._in_headers else self.limits.body_seconds
            self.deadline = time.monotonic() + seconds

    def on_message_begin(self) -> None:
        self.url = b""
        self.headers = []
        self._told_bytes = 0
        self._in_headers, self._timed = True, False

    def on_header(self, name: bytes, value: bytes) -> None:
        self._told_bytes += len(name) + len(value)
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.hear_body()
        self._to_application()

    def hear_body(self) -> None:
        self.answered_at = 0.0
        self._in_headers, self._timed = False, False

    def hear_head(self) -> None:
        self.deadline = 0.0
        self._header_bytes = 0
        self._timed = True

    def too_large(self) -> bool:
        return len(self.url) + self._told_bytes > self.limits.header_bytes

    def _to_application(self) -> None:
        url, headers, before = self.url, self.headers, self.cycle
        super().on_message_begin()
        self.url = url
        self.headers += headers
        self.expect_100_continue = any(
            name == b"expect" and value.lower() == b"100-continue" for name, value in headers
        )
        self.scope["state"]["headers_too_large"] = self.too_large()
        super().on_headers_complete()
        if self.cycle is not before:
            self.cycle.transport = self.answering.begun()  # type: ignore[assignment]

    def on_message_complete(self) -> None:
        self.hear_head()
        super().on_message_complete()

    def late(self, now: float) -> bool:
        return 0 < self.deadline < now

    def rested(self, now: float) -> bool:
        """Whether nothing has come for long since the last answer; uvicorn has a timer for its own."""
        return not self.deadline and 0 < self.answered_at < now - self.timeout_keep_alive

    def send_400_response(self, msg: str) -> None:
        self.refuse("bad_framing")

    def refuse(self, reason: str) -> None:
        """Answers and closes without the application, which has not seen a whole request."""
        if self.transport.is_closing():
            return
        self.deadline = 0.0
        self.metrics.add("penstock_refused_total", reason=reason)
        status, body = problem(reason)
        head = (
            b"content-type: application/problem+json\r\ncontent-length: %d\r\nretry-after: 1\r\nconnection: close\r\n"
        )
        if self.cycle is None or not self.cycle.response_started:
            self.transport.write(STATUS_LINE[status] + head % len(body) + b"\r\n" + body)
        self.transport.close()


def bounded(limits: Limits, metrics: Metrics, trusted: Callable[[str], bool]) -> type[Wire]:
    """The class of one collector's connections."""
    told = {"limits": limits, "metrics": metrics, "trusted": staticmethod(trusted), "addresses": Counter()}
    return type("BoundedWire", (Wire,), told)


async def sweep(connections: Iterable[object]) -> None:
    """Cuts off whoever takes too long to say what he wants, and who has nothing more to say."""
    while True:
        await asyncio.sleep(SWEEP)
        now = time.monotonic()
        for connection in list(connections):
            if not isinstance(connection, Wire):
                continue
            if connection.late(now):
                connection.refuse("slow_request")
            elif connection.rested(now):
                connection.transport.close()
