"""The three words of ASGI, how an answer is sent, and what a query says."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from penstock.collect.refusal import Refusal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

JSON = (b"content-type", b"application/json")
PROBLEM = (b"content-type", b"application/problem+json")


class Answer(NamedTuple):
    status: int
    body: bytes
    headers: Headers


async def answer(send: Send, status: int, body: bytes, headers: Headers = ()) -> int:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [length, *headers]})
    await send({"type": "http.response.body", "body": body})
    return status


def query(asked: bytes) -> dict[str, str]:
    try:
        pairs = parse_qs(asked.decode(), keep_blank_values=True, max_num_fields=600, errors="strict")
    except ValueError as error:
        raise Refusal("bad_parameter", "The query is not UTF-8, or has too many fields.") from error
    return {name: values[-1] for name, values in pairs.items()}
