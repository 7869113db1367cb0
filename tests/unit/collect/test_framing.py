"""Whatever the bytes: a connection that answers posts itself says what it would with an application between."""

import asyncio
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from posts import Echo
from uvicorn import Config
from uvicorn.server import ServerState

from penstock.collect.asgi import Receive, Scope, Send, answer
from penstock.collect.body import Gone, read
from penstock.collect.limits import Limits
from penstock.collect.posted import known, posting
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
    MUCH := b"x: " + b"y" * 301, b"host: a",
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


def heard(spoken: Iterable[bytes], *, short: bool, forgetful: bool = False) -> tuple[bytes, list[bytes], bool]:
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
        if forgetful:
            wire = type("Forgetful", (wire,), {"longest_known": 0})
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
    """Fewer are, where what is no HTTP comes before an answer: it closes the connection. So does too large a head that
    is not there at once; one that is there is the application's to refuse, and the next is taken."""
    assume(MUCH not in spoken)
    taken = heard([bytes([byte]) for byte in spoken], short=True)[1]
    at_once = heard([spoken[:cut], spoken[cut:]], short=True)[1]
    assert at_once == taken[: len(at_once)]


def post(body: bytes, length: bytes = b"", start: bytes = STARTS[0]) -> bytes:
    return start + b"\r\nhost: a\r\nContent-Length: " + (length or b"%d" % len(body)) + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    "more",
    [
        [post(b"two"), post(b"three"), post(b"")],
        [post(b"x" * 41)],
        [post(b"x" * 40)],
        [post(b"two", b"+3")],
        [post(b"two", b"0_3")],
        [post(b"two", b" 3")],
        [post(b"two", b"3 ")],
        [post(b"two", b"2")],
        [post(b"two", b"4"), post(b"3")],
        [post(b"two", b"9" * 5000)],
        [post(b"", b"3\r\nhost")],
        [post(b"", b"8\r\nabc: d"), post(b"2345678")],
        [post(b"x")[:9], post(b"two")],
        [post(b"two\r\n"), post(b"2") + b"\r\n", post(b"3")],
        [b"\r\n\r\n" + post(b"two"), b"\r\n" + post(b"3"), b"\r\n" + post(b"4")],
        [post(b"two", start=STARTS[0] + b"\r\ncontent-length: 3"), post(b"3")],
        # What a body is made of is not a post, however much it looks like one.
        [post(b"", b"39"), post(b"", b"1", b"x")[:39]],
        [post(b"")[:9], post(b"")[9:], post(b"")[9:]],
        [post(b"two") + post(b"3"), post(b"4")],
        [b"GET / HTTP/1.1\r\n\r\n", post(b"3"), post(b"4")],
        [post(b"two", start=b"POST /v1/web.events HTTP/1.0"), post(b"3")],
        [post(b"two", start=STARTS[0] + b"\r\nconnection: close"), post(b"3")],
    ],
)
def test_a_head_that_is_said_again_means_what_it_does_to_who_forgets(more: list[bytes]) -> None:
    spoken = [post(b"one"), *more, *more]
    assert heard(spoken, short=True) == heard(spoken, short=True, forgetful=True)


@settings(max_examples=300, deadline=None)
@given(one=REQUESTS, cuts=st.lists(st.sampled_from((0, 0, 0, 0, 1, -1, -3, 2)), min_size=3, max_size=3))
def test_whoever_says_the_same_again_is_heard_as_by_who_forgets(one: bytes, cuts: list[int]) -> None:
    """Each comes at once and alone, or nearly: the last bytes of one with the next, or the other way round."""
    spoken, ends = one * 4, [0, *((number + 1) * len(one) + cut for number, cut in enumerate(cuts)), 4 * len(one)]
    parts = [spoken[begin:end] for begin, end in pairwise(ends)]
    assert heard(parts, short=True) == heard(parts, short=True, forgetful=True)


def test_only_what_came_alone_is_remembered() -> None:
    told, whose = post(b"one"), Echo(LIMITS).post("web.events", {}, "", b"")
    known_now = known(told, b"one", whose)
    assert known_now and known_now.body(post(b"three"), 40) == b"three"
    assert [known(told + b"\r\n", b"one", whose), known(told[1:], b"on", whose), known(b"", b"", whose)] == [None] * 3
