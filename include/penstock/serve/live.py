"""Live answers: who asks the same question shares one answer, made once and serialised once for each change."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect

from penstock.serve.access.guard import same_origin, who_of
from penstock.serve.encode import document
from penstock.serve.problems import Problem

Key = tuple[tuple[str, str], ...]
# What is told of the whole lake, beside views and rules: documents without rows, which come in whole.
PIPELINE, AUDIT = "pipeline", "audit"
# A subscriber that cannot take a message in this time is let go; it will subscribe again.
SECONDS_TO_SEND = 5.0
log = logging.getLogger(__name__)


class Certified(NamedTuple):
    """What a certificate says that a reader must hear of also where no number changed: a build makes them final."""

    release: str
    cut: dict[str, int]
    final: bool


class Topic:
    """One question, its subscribers and the rows that they have."""

    def __init__(self) -> None:
        self.sockets: set[WebSocket] = set()
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.whole = ""
        self.certified: Certified | None = None
        # A thousand that come at once wait for the first one's answer.
        self.making = asyncio.Lock()


class Live:
    """`answer` makes the document of a question (of a view, of a rule), and says which columns name a row: none, if it
    has no rows."""

    def __init__(self, answer: Callable[[Key], tuple[dict[str, Any], tuple[str, ...]]]) -> None:
        self._answer = answer
        self._topics: dict[Key, Topic] = {}

    async def subscribe(self, socket: WebSocket, key: Key) -> None:
        """Sends the whole answer, then what changes, until the subscriber goes."""
        if not same_origin(socket):
            await socket.close(1008)
            return
        await socket.accept()
        topic = self._topics.setdefault(key, Topic())
        try:
            async with topic.making:
                if not topic.whole:
                    await self._update(key, topic)
            topic.sockets.add(socket)
            await socket.send_text(topic.whole)
            while True:
                await socket.receive_text()
        except Problem as problem:
            await socket.send_text(document(problem.document()).decode())
            await socket.close(1008)
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            topic.sockets.discard(socket)
            if not topic.sockets:
                self._topics.pop(key, None)

    async def changed(self, names: set[str]) -> None:
        """Makes the answers about these (views, rules) again and pushes what is different in them."""
        for key, topic in list(self._topics.items()):
            if _asked(key) in names and topic.sockets:
                # One question's fault must not keep the answers of the others back.
                try:
                    async with topic.making:
                        message = await self._update(key, topic)
                except Exception as error:
                    if not isinstance(error, Problem):
                        log.exception("%s could not be told", _asked(key))
                    continue
                # Who asked may have gone meanwhile.
                if message and topic.sockets:
                    await _send(topic, message)

    async def end(self, link: str) -> None:
        """Lets go who came by a link that was revoked."""
        sockets = [socket for topic in self._topics.values() for socket in topic.sockets]
        for socket in sockets:
            share = who_of(socket).share
            if share is not None and share.id == link:
                await socket.close(1008, "the link was revoked")

    @property
    def subscribers(self) -> int:
        return sum(len(topic.sockets) for topic in self._topics.values())

    def told(self) -> list[dict[str, Any]]:
        """Who subscribes to what. Asked from another thread: what is walked is copied first."""
        topics = list(self._topics.items())
        counted = Counter((_asked(key), who_of(socket).name) for key, topic in topics for socket in list(topic.sockets))
        return [{"about": about, "who": who, "subscribers": times} for (about, who), times in sorted(counted.items())]

    async def _update(self, key: Key, topic: Topic) -> str | None:
        said, names = await asyncio.to_thread(self._answer, key)
        if not names:
            before, topic.whole = topic.whole, document(said).decode()
            return topic.whole if topic.whole != before else None
        rows = {tuple(row.get(name) for name in names): row for row in said["rows"]}
        fresh = [row for name, row in rows.items() if topic.rows.get(name) != row]
        stood, topic.certified = topic.certified, _certified(said)
        topic.rows, topic.whole = rows, document(said).decode()
        if stood and topic.certified and stood.release != topic.certified.release:
            # Rows of the release before may be none of this one: the subscriber starts anew.
            return document({**said, "whole": True}).decode()
        return document({**said, "rows": fresh}).decode() if fresh or stood != topic.certified else None


def _certified(said: dict[str, Any]) -> Certified | None:
    """None of what carries no certificate."""
    told = said.get("certificate")
    return Certified(*(told[name] for name in Certified._fields)) if told else None


def _asked(key: Key) -> str:
    """The view or rule of a question, or what else it is about."""
    said = dict(key)
    return said.get("view") or said.get("rule") or said["about"]


async def _send(topic: Topic, message: str) -> None:
    """To all subscribers; who does not take it, or not in time, is let go."""
    sending = {asyncio.create_task(socket.send_text(message)): socket for socket in topic.sockets}
    # One clock for all: a timer for each of a thousand costs more than the sending.
    _, late = await asyncio.wait(sending, timeout=SECONDS_TO_SEND)
    for task, socket in sending.items():
        if task in late or task.exception() is not None:
            task.cancel()
            topic.sockets.discard(socket)
