"""Where an agent brings events: the edge, the log, a file, its own log. `put` returns when they are safe there."""

import asyncio
import logging
import os
import random
from pathlib import Path
from typing import Any, Protocol

import httpx
import orjson

from penstock.collect.agent.formats import Event
from penstock.collect.envelope import common, received, seal
from penstock.collect.limits import Limits
from penstock.log.producer import Envelope, Log, LogDown
from penstock.model.domain import source

log = logging.getLogger("penstock.agent")

FIRST, LAST = 0.2, 30.0
# An agent speaks for others: where it is itself says nothing of them.
NOBODY: Envelope = {"client_address": b""}


class Sink(Protocol):
    async def put(self, events: list[Event]) -> None:
        """Returns when the events are safe; tries for ever. What can never be taken is logged by name."""


class Http:
    """The edge of a collector, with its durable answers."""

    def __init__(self, url: str, to: str, key: str = "") -> None:
        self._url = f"{url.rstrip('/')}/v1/{to}"
        headers = {"content-type": "application/x-ndjson"} | ({"authorization": f"Bearer {key}"} if key else {})
        self._client = httpx.AsyncClient(headers=headers, timeout=30)

    async def put(self, events: list[Event]) -> None:
        body = b"\n".join(orjson.dumps(event) for event in events)
        failures = 0
        while True:
            try:
                answer = await self._client.post(self._url, content=body)
                if answer.status_code not in (408, 429, 503):
                    return self._settled(answer.json())
                why = answer.text
            except httpx.TransportError as error:
                why = str(error)
            log.warning("%s does not take events: %s", self._url, why)
            await _backed_off(failures)
            failures += 1

    def _settled(self, told: dict[str, Any]) -> None:
        for one in told.get("refused", []) if "accepted" in told else [told]:
            log.error("%s refused: %s", self._url, orjson.dumps(one).decode())


class Kafka:
    """The log itself, with the envelope that the edge would give."""

    def __init__(self, kafka: str, to: str) -> None:
        self._source = source(to)
        self._envelope = common(self._source, b"application/json", NOBODY, {})
        self._log = Log(kafka)

    async def put(self, events: list[Event]) -> None:
        told = [(index, orjson.dumps(event), event) for index, event in enumerate(events)]
        records, _, refused = seal(self._source, told, received(self._envelope), Limits())
        for one in refused:
            log.error("an event cannot be written to %s: %s", self._source.name, one.reason)
        failures = 0
        while True:
            try:
                await self._log.append(records)
                return
            except LogDown as error:
                log.warning("the log does not take events: %s", error)
                await _backed_off(failures)
                failures += 1


class File:
    """A file of NDJSON, synced after each batch."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    async def put(self, events: list[Event]) -> None:
        await asyncio.to_thread(self._write, b"".join(orjson.dumps(event) + b"\n" for event in events))

    def _write(self, lines: bytes) -> None:
        with self._path.open("ab") as file:
            file.write(lines)
            file.flush()
            os.fdatasync(file.fileno())


class Logger:
    async def put(self, events: list[Event]) -> None:
        for event in events:
            log.info("%s", orjson.dumps(event).decode())


async def _backed_off(failures: int) -> None:
    wait = min(LAST, FIRST * 2 ** min(failures, 10))
    await asyncio.sleep(wait * (0.5 + random.random() / 2))  # noqa: S311 - jitter, not a secret
