"""Whatever the bytes: a connection that answers posts itself says what it would with an application between."""

import asyncio
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st
from posts import Echo
from uvicorn import Config
from uvicorn.server import ServerState

from penstock.collect.asgi import Receive, Scope, Send, answer
from penstock.collect.body import Gone, read
from penstock.collect.limits import Limits
from penstock.collect.posted import posting
from penstock.collect.refusal import Refusal
from penstock.collect.wire import Wire, bounded

LIMITS = Limits(body=40, header_bytes=300)
STARTS = (
    b"POST /v1/web.events HTTP/1.1", b"POST /v1/web.events?key=a HTTP/1.1", b"POST /v1/web.events HTTP/1.0",
    b"POST http://x/v1/web.events HTTP/1.1", b"POST /v1/web.events#a HTTP/1.1", b"POST /v1/web%2eevents HTTP/1.1",
    b"POST /v1/web.nothing HTTP/1.1", b"post /v1/web.events HTTP/1.1", b"POST web.events HTTP/1.1",
    b"POST /v1/web.events HTTP/2.0", b"POST  /v1/web.events HTTP/1.1", b"POST /v1/web.events", b"GET / HTTP/1.1",
    b"POST /v1/web.events\xe4 HTTP/1.1", b"PUT /v1/web.events HTTP/1.1", b"CONNECT x:1 HTTP/1.1", b"PRI * HTTP/2.0",
)  # fmt: skip
LINES = (
    b"content-length: 3", b"Content-Length: 3", b"content-length: 0", b"content-length: 41", b"content-length: +3",
    b"content-length: 3, 3", b"content-length : 3", b"content-length:\t3 ", b"content-length: 3\r\n 4",
    b"content-length: x",
    b"transfer-encoding: chunked", b"transfer-encoding: identity", b"transfer-encoding: chunked, identity",
    b"Transfer-Encoding : chunked", b"connection: close", b"connection: keep-alive", b"connection: upgrade",
    b"upgrade: h2c", b"expect: 100-continue", b"prefer: wait=1", b"x: \x00", b"x: \xff", b"x: a\rb", b"x", b": a",
    b"x: " + b"y" * 301, b"host: a",
)  # fmt: skip
BODIES = (b"", b"one", b"3\r\none\r\n0\r\n\r\n", b"ones", b"\r\n", b"0\r\n\r\n")
ENDS = st.sampled_from([b"\r\n"] * 20 + [b"\n", b"\r", b"\n\r"])
LENGTH, HARMLESS = b"content-length: 3", (b"host: a", b"x: \xff", b"connection: keep-alive")
# Most are good, so that what follows a good one is looked at as well.
REQUESTS = st.builds(
    lambda start, first, lines, end, body: end.join([start, first, *lines, b"", b""]) + body,
    st.sampled_from(STARTS[:2] * 20 + STARTS),
    st.sampled_from((LENGTH,) * 60 + LINES),
    st.lists(st.sampled_from(HARMLESS * 20 + LINES), max_size=2),
    ENDS,
    st.sampled_from((b"one",) * 20 + BODIES),
)
SPOKEN = st.lists(REQUESTS, min_size=1, max_size=4).map(b"".join)


class Line(list[bytes]):
    """What was said on a connection that nobody else holds."""

    closed = False

    def write(self, data: bytes) -> None:
        self.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, _: str) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def heard(spoken: Iterable[bytes], *, short: bool) -> tuple[bytes, list[bytes], bool]:
    """What a connection answers, which bodies of posts it took, and whether it is closed then."""

    async def talk() -> tuple[bytes, list[bytes], bool]:
        echo, line = Echo(LIMITS), Line()

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            headers = dict(scope["headers"])
            try:
                if scope["state"]["headers_too_large"] or scope["method"] != "POST":
                    raise Refusal("not_found")
                post = echo.post(scope["path"].removeprefix("/v1/"), headers, "", scope["query_string"])
                body = await read(receive, headers.get(b"content-length"), LIMITS.body)
                await answer(send, *await echo.answer(post, body))
            except Refusal as refusal:
                await answer(send, 404, refusal.reason.encode())
            except Gone:
                return

        wire: type[Wire] = (
            posting(echo) if short else bounded(LIMITS, echo.metrics, echo.access.trusted)  # type: ignore[arg-type]
        )
        config = Config(application, lifespan="off", log_config=None, ws="none")  # type: ignore[arg-type]
        connection = wire(config, ServerState(), {})
        connection.connection_made(line)  # type: ignore[arg-type]
        for part in spoken:
            if line.closed:
                break
            connection.data_received(part)
            for _ in range(6):
                await asyncio.sleep(0)
        connection.connection_lost(None)
        return b"".join(line), echo.heard, line.closed

    return asyncio.run(talk())


@settings(max_examples=150, deadline=None)
@given(spoken=SPOKEN)
def test_the_short_way_hears_and_says_what_the_application_would(spoken: bytes) -> None:
    bytewise = [bytes([byte]) for byte in spoken]
    assert heard(bytewise, short=True) == heard(bytewise, short=False)


@settings(max_examples=150, deadline=None)
@given(spoken=SPOKEN, cut=st.integers(0, 200))
def test_however_the_bytes_are_cut_no_other_post_is_taken(spoken: bytes, cut: int) -> None:
    """Fewer are, where what is no HTTP comes before an answer: it closes the connection."""
    taken = heard([bytes([byte]) for byte in spoken], short=True)[1]
    at_once = heard([spoken[:cut], spoken[cut:]], short=True)[1]
    assert at_once == taken[: len(at_once)]
