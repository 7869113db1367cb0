"""A post is answered on its connection as an application would have been: in order, whole, and only once."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from posts import Echo
from uvicorn import Config
from uvicorn.server import ServerState

from penstock.collect.accepting import Post
from penstock.collect.asgi import Receive, Scope, Send, answer
from penstock.collect.limits import Limits
from penstock.collect.posted import Posted, posting
from penstock.collect.together import Together
from penstock.collect.wire import sweep
from penstock.model.domain import source

HEAD = b"POST /v1/web.events HTTP/1.1\r\nhost: x\r\n"


def request(body: bytes, head: bytes = HEAD) -> bytes:
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await answer(send, 200, b"application")


class Served:
    """A server with an echo behind its short way, and how to speak to it."""

    def __init__(self, echo: Echo, state: ServerState, port: int) -> None:
        self.echo, self.state, self.port = echo, state, port

    async def line(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def said(self, *parts: bytes) -> bytes:
        reader, writer = await self.line()
        for part in parts:
            writer.write(part)
            await asyncio.sleep(0.005)
        said = b""
        with contextlib.closing(writer), contextlib.suppress(TimeoutError):
            while more := await asyncio.wait_for(reader.read(65536), 0.1):
                said += more
        return said


@contextlib.asynccontextmanager
async def served(limits: Limits, rest: float) -> AsyncIterator[Served]:
    echo, state = Echo(limits), ServerState()
    config = Config(application, lifespan="off", log_config=None, timeout_keep_alive=rest)  # type: ignore[arg-type]
    wire = posting(echo)  # type: ignore[arg-type]
    server = await asyncio.get_running_loop().create_server(lambda: wire(config, state, {}), "127.0.0.1", 0)
    sweeper = asyncio.create_task(sweep(state.connections))
    yield Served(echo, state, server.sockets[0].getsockname()[1])
    sweeper.cancel()
    server.close()


@pytest.fixture
def serve() -> Callable[..., Any]:
    def run(talk: Callable[[Served], Awaitable[Any]], rest: float = 60, **limits: Any) -> Any:
        async def talked() -> Any:
            async with served(Limits(**limits), rest) as server:
                return await talk(server)

        return asyncio.run(talked())

    return run


GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
ELSEWHERE = request(b"x", HEAD.replace(b"web", b"w"))


@pytest.mark.parametrize(
    ("parts", "answers"),
    [
        # What comes before an answer is there waits in uvicorn's queue, and so goes uvicorn's way.
        ([request(b"one") + request(b"two") + GET], [b"one", b"application", b"application"]),
        ([request(b"one")[:-1], b"e" + GET[:9], GET[9:] + request(b"2")[:9]], [b"one", b"application"]),
        ([bytes([byte]) for byte in request(b"one")], [b"one"]),
        ([request(b"one"), ELSEWHERE, request(b"two")], [b"one", b"application", b"two"]),
    ],
    ids=["at-once", "in-pieces", "byte-by-byte", "in-turn"],
)
def test_answers_come_in_the_order_of_what_was_asked(serve, parts: list[bytes], answers: list[bytes]) -> None:
    said = serve(lambda server: server.said(*parts))
    assert [answer.rpartition(b"\r\n")[2] for answer in said.split(b"HTTP/1.1 ")[1:]] == answers


def test_an_answer_has_its_length_and_its_headers(serve) -> None:
    assert serve(lambda server: server.said(request(b"one"))) == (
        b"HTTP/1.1 202 Accepted\r\ncontent-length: 3\r\nx: 1\r\n\r\none"
    )


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"connection: close\r\n",
        HEAD + b"Connection: Close\r\n",
        HEAD.replace(b"1.1", b"1.0"),
        HEAD.replace(b"1.1", b"1.0") + b"connection: keep-alive\r\n",
    ],
)
def test_who_wants_no_more_is_answered_and_let_go(serve, head: bytes) -> None:
    said = serve(lambda server: server.said(request(b"one", head) + request(b"two")))
    assert said.count(b"HTTP/1.1") == 1 and b"connection: close" in said and said.endswith(b"one")


@pytest.mark.parametrize(
    "sent",
    [
        request(b"{}", HEAD + b"prefer: wait=1\r\n"),
        HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        request(b"{}", HEAD + b"expect: 100-continue\r\n"),
        request(b"{}", HEAD + b"Upgrade: h2c\r\nconnection: upgrade\r\n"),
        request(b"x" * 11),
        request(b"{}", HEAD.replace(b"web", b"nothing")),
        request(b"{}", HEAD + b"x: %b\r\n" % (b"y" * 20_000)),
        HEAD + b"\r\n",
    ],
    ids=["prefer", "chunked", "expect", "upgrade", "large", "refused", "much-head", "no-length"],
)
def test_what_is_rare_is_the_applications(serve, sent: bytes) -> None:
    assert serve(lambda server: server.said(sent), body=10).endswith(b"application")


@pytest.mark.parametrize(
    "sent",
    [
        request(b"one") + b"junk\r\n\r\n",
        request(b"", HEAD + b"content-length: 1\r\n"),
        request(b"", HEAD + b"transfer-encoding: chunked\r\n"),
    ],
)
def test_framing_that_can_be_read_in_two_ways_is_refused(serve, sent: bytes) -> None:
    assert serve(lambda server: server.said(sent)).startswith(b"HTTP/1.1 400")


def test_a_second_body_that_does_not_come_is_cut_off(serve) -> None:
    async def talk(server: Served) -> tuple[bytes, float]:
        reader, writer = await server.line()
        writer.write(request(b"one"))
        await reader.readuntil(b"one")
        began = time.monotonic()
        writer.write(request(b"two")[:-1])
        return await asyncio.wait_for(reader.read(), 5), time.monotonic() - began

    said, took = serve(talk, body_seconds=0.1)
    assert said.startswith(b"HTTP/1.1 408") and took < 3


def test_a_connection_on_which_nothing_comes_any_more_is_closed(serve) -> None:
    async def talk(server: Served) -> bytes:
        reader, writer = await server.line()
        writer.write(request(b"one"))
        return await asyncio.wait_for(reader.read(), 5)

    assert serve(talk, rest=0).endswith(b"one")


def test_one_answer_is_waited_for_before_the_next_post_is_taken(serve) -> None:
    async def talk(server: Served) -> list[bytes]:
        server.echo.may.clear()
        reader, writer = await server.line()
        writer.write(request(b"one") + request(b"two"))
        await asyncio.sleep(0.7)
        heard = [*server.echo.heard]
        server.echo.may.set()
        await reader.readuntil(b"application")
        return heard

    assert serve(talk) == [b"one"]


def test_a_head_that_is_known_is_not_parsed_again_but_waits_its_turn(serve) -> None:
    async def talk(server: Served) -> tuple[list[bytes], bytes]:
        reader, writer = await server.line()
        writer.write(request(b"one"))
        await reader.readuntil(b"one")
        server.echo.may.clear()
        (connection,) = server.state.connections
        parser, connection.parser = connection.parser, None
        writer.write(request(b"two"))
        await asyncio.sleep(0.05)
        connection.parser = parser
        writer.write(request(b"three"))
        await asyncio.sleep(0.05)
        heard = [*server.echo.heard]
        server.echo.may.set()
        return heard, await reader.readuntil(b"application")

    heard, said = serve(talk)
    assert heard == [b"one", b"two"] and said.index(b"two") < said.index(b"application")


def test_a_stop_lets_what_is_under_way_be_answered_and_then_closes(serve) -> None:
    async def talk(server: Served) -> bytes:
        server.echo.may.clear()
        reader, writer = await server.line()
        writer.write(request(b"one"))
        await asyncio.sleep(0.05)
        for connection in list(server.state.connections):
            connection.shutdown()
        server.echo.may.set()
        return await asyncio.wait_for(reader.read(), 5)

    said = serve(talk)
    assert b"connection: close" in said and said.endswith(b"one")


def test_who_leaves_before_his_answer_is_forgotten(serve) -> None:
    async def talk(server: Served) -> tuple[list[bytes], int]:
        server.echo.may.clear()
        _, writer = await server.line()
        writer.write(request(b"one"))
        await asyncio.sleep(0.05)
        writer.transport.abort()
        await asyncio.sleep(0.05)
        server.echo.may.set()
        await asyncio.sleep(0.05)
        return server.echo.heard, len(server.state.connections)

    assert serve(talk) == ([b"one"], 0)


def test_who_never_reads_is_not_answered_without_end(serve) -> None:
    body = b"x" * 100_000

    async def talk(server: Served) -> int:
        line = socket.create_connection(("127.0.0.1", server.port))
        line.setblocking(False)
        with contextlib.closing(line), contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                while True:
                    await asyncio.get_running_loop().sock_sendall(line, request(body))
        return len(server.echo.heard)

    assert serve(talk) < 200


def test_a_header_that_would_end_the_head_is_never_sent() -> None:
    """No parser gives one; if one did, the sender of a header must not write the answer."""

    async def talk() -> list[bytes]:
        class Closed(list[bytes]):
            def is_closing(self) -> bool:
                return False

            write = list.append
            close = list.clear

        class Line:
            transport, loop, accepting = Closed(), asyncio.get_running_loop(), Echo(Limits())

        post = Post(source("web.events"), Line.accepting.access.everyone, "json", {b"x": b"1\r\nset-cookie: a"}, {})
        posted = Posted(Line(), post, True)  # type: ignore[arg-type]
        posted.begin(b"{}")
        with contextlib.suppress(ValueError):
            await asyncio.sleep(0.01)
        return Line.transport

    assert asyncio.run(talk()) == []


def test_one_post_that_fails_does_not_take_those_with_it_that_came_together() -> None:
    begun: list[bytes] = []

    def begin(body: bytes) -> None:
        begun.append(body)
        if body == b"fails":
            raise ValueError("the worst")

    async def come() -> None:
        loop, together = asyncio.get_running_loop(), Together(contextlib.nullcontext)
        loop.set_exception_handler(lambda *_: None)
        for body in (b"first", b"fails", b"last"):
            together.take(begin, body, loop)
        for _ in range(3):
            await asyncio.sleep(0)

    asyncio.run(come())
    assert begun == [b"first", b"fails", b"last"]
