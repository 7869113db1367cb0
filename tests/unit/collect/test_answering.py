"""An answer leaves in one piece, and nothing of it waits for what may never come."""

import asyncio
from collections.abc import Callable

import pytest

from penstock.collect.answering import Answering

HEAD, BODY = b"HTTP/1.1 202 Accepted\r\n\r\n", b'{"accepted":1}'


class ListTransport(list[bytes]):
    """What was sent, piece by piece."""

    closed = False

    def write(self, data: bytes) -> None:
        self.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def sent() -> Callable[..., list[bytes]]:
    def run(*acts: Callable[[Answering], object]) -> list[bytes]:
        async def answer() -> list[bytes]:
            transport = ListTransport()
            answering = Answering(transport, asyncio.get_running_loop())  # type: ignore[arg-type]
            for act in acts:
                act(answering)
            before = [*transport]
            await asyncio.sleep(0)
            return before if transport.closed else [*transport]

        return asyncio.run(answer())

    return run


def said(data: bytes) -> Callable[[Answering], object]:
    return lambda answering: answering.write(data)


def test_a_head_goes_with_its_body(sent) -> None:
    assert sent(Answering.begun, said(HEAD), said(BODY)) == [HEAD + BODY]


def test_each_answer_of_a_connection_is_one_piece(sent) -> None:
    answer = (Answering.begun, said(HEAD), said(BODY))
    assert sent(*answer, *answer) == [HEAD + BODY] * 2


def test_a_head_without_a_body_goes_alone(sent) -> None:
    assert sent(Answering.begun, said(HEAD)) == [HEAD]


def test_what_is_streamed_later_goes_when_it_is_said(sent) -> None:
    assert sent(Answering.begun, said(HEAD), said(b"1"), said(b"2")) == [HEAD + b"1", b"2"]


def test_who_waits_for_leave_to_send_a_body_hears_it_at_once(sent) -> None:
    leave = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert sent(Answering.begun, said(leave), said(HEAD), said(BODY)) == [leave, HEAD + BODY]


def test_a_connection_that_is_closed_has_said_what_it_had(sent) -> None:
    assert sent(Answering.begun, said(HEAD), Answering.close) == [HEAD]
