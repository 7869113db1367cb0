"""What stands behind a connection that answers posts: it says again what it was sent."""

import asyncio
import contextlib
from collections.abc import Mapping

from penstock.collect.accepting import Post
from penstock.collect.access import Access
from penstock.collect.asgi import Answer
from penstock.collect.limits import Limits
from penstock.collect.metrics import Metrics
from penstock.collect.refusal import Refusal
from penstock.model.domain import source


class Echo:
    """Says what it was sent as soon as it may."""

    def __init__(self, limits: Limits) -> None:
        self.access, self.metrics = Access(limits=limits), Metrics()
        self.heard: list[bytes] = []
        self.may = asyncio.Event()
        self.may.set()
        self.at_once = contextlib.nullcontext

    def post(self, name: str, headers: Mapping[bytes, bytes], peer: str, asked: bytes) -> Post:
        if name != "web.events":
            raise Refusal("unknown_source")
        return Post(source(name), self.access.everyone, "json", headers, {})

    async def answer(self, post: Post, body: bytes) -> Answer:
        self.heard.append(body)
        await asyncio.sleep(0)
        await self.may.wait()
        return Answer(202, body, [(b"x", post.headers.get(b"x", b"1"))])
