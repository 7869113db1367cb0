"""What waits in the spool for the log: in order, and never with a byte of anybody's in the clear."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest

from domains.web.model import EVENTS
from penstock.collect.envelope import Sealing, common, framed, seal
from penstock.collect.events import Event
from penstock.collect.keeping import UNREAD, Keeping, Kept
from penstock.collect.limits import Limits
from penstock.collect.metrics import Metrics
from penstock.collect.registry.reading import Reading
from penstock.collect.spool import Spool
from penstock.keys.sealing import Opener, Sealers
from penstock.keys.store import Keys
from penstock.log.producer import LogDown, Position, Record
from penstock.log.topics import LogUnreachable
from penstock.model.record import SUBJECTS

SCHEMA: dict[str, Any] = {"type": "record", "name": "E", "fields": [{"name": "visitor", "type": "string"}]}
AVRO = b"application/avro"


class ListLog(list[Record]):
    """A log that can be down. Its registry knows one schema, and nobody knows it before the log is up."""

    def __init__(self) -> None:
        self.up = False
        self.readable = True
        self.known = self
        self.texts: dict[int, str] = {}

    async def append(self, records: Sequence[Record], placed: bool = False) -> list[Position]:
        if not self.up:
            raise LogDown("it is down")
        self.extend(records)
        return []

    async def answers(self) -> bool:
        return self.up

    async def refresh(self) -> None:
        if not self.up or not self.readable:
            raise LogUnreachable("it is down")
        await asyncio.sleep(0.01)
        self.texts[7] = json.dumps(SCHEMA)

    async def close(self) -> None:
        pass


class Collector:
    """What keeps an edge's events, over a log that is a list."""

    def __init__(self, home: Path) -> None:
        self.log: Any = ListLog()
        self.keys = Keys.of_home(home)
        self.sealing = Sealing(Sealers(self.keys), Reading(self.log))
        self.keeping = Keeping(self.log, Spool(home / "spool", 1_000_000), Metrics(), self.sealing.again)

    async def posted(self, event: dict[str, Any]) -> Kept:
        events: list[Event] = [(0, b'{"plain": true}', event)]
        records, _, _ = seal(EVENTS, events, common(EVENTS, b"application/json", {}, {}), Limits())
        return await self.keeping.keep(await self.sealing.sealed(EVENTS, records, events))

    async def posted_avro(self, visitor: str) -> Kept:
        body = BytesIO()
        fastavro.schemaless_writer(body, SCHEMA, {"visitor": visitor})
        envelope = common(EVENTS, AVRO, {}, {b"user-agent": b"browser/1"})
        records, _, _ = framed(EVENTS, b"\0\0\0\0\7" + body.getvalue(), envelope)
        return await self.keeping.keep(await self.sealing.sealed(EVENTS, records, [(0, b"", {})]))

    async def back(self) -> None:
        self.log.up = True
        async with asyncio.timeout(10):
            while self.keeping.state() != "direct":
                await asyncio.sleep(0.01)

    def opened(self, record: Record) -> tuple[bytes, bytes] | None:
        subjects = record.headers[SUBJECTS]
        assert isinstance(subjects, bytes)
        return Opener(self.keys, [subjects]).opened(record.value, subjects)


Act = Callable[[Collector], Awaitable[None]]


@pytest.fixture
def collecting(tmp_path: Path) -> Callable[[Act], Collector]:
    """A collector to which something has happened."""

    def run(act: Act) -> Collector:
        async def collect() -> Collector:
            collector = Collector(tmp_path)
            await act(collector)
            await collector.keeping.close()
            return collector

        return asyncio.run(collect())

    return run


def test_one_visitors_events_leave_the_spool_in_the_order_they_came(collecting) -> None:
    async def act(collector: Collector) -> None:
        for number in range(20):
            await collector.posted({"visitor": "v7", "event_id": f"e{number}"})
        # While it is drained, more come.
        collector.log.up = True
        for number in range(20, 60):
            await collector.posted({"visitor": "v7", "event_id": f"e{number}"})
            await asyncio.sleep(0.02)
        await collector.back()
        await collector.posted({"visitor": "v7", "event_id": "e60"})

    log = collecting(act).log
    assert [record.headers["event_id"] for record in log] == [b"e%d" % number for number in range(61)]
    assert len({record.key for record in log}) == 1


def test_avro_of_a_schema_that_only_the_log_knows_is_kept_while_it_is_down(collecting) -> None:
    async def act(collector: Collector) -> None:
        assert (await collector.posted_avro("somebody-by-name")).where == "spool"
        (segment,) = collector.keeping.spool.segments()
        assert b"somebody-by-name" not in segment.read_bytes() and b"browser/1" not in segment.read_bytes()

    collecting(act)


def test_it_is_sealed_for_whom_it_names_before_the_log_has_it(collecting) -> None:
    async def act(collector: Collector) -> None:
        await collector.posted_avro("v7")
        await collector.back()

    collector = collecting(act)
    (record,) = collector.log
    value, agent = collector.opened(record) or (b"", b"")
    assert (value[:5], value.endswith(b"v7"), agent) == (b"\0\0\0\0\7", True, b"browser/1")
    assert UNREAD not in record.headers
    collector.keys.destroy(collector.keys.tokens("web", ["v7"]).values(), "erase/1")
    assert collector.opened(record) is None


def test_the_log_has_nothing_that_is_not_sealed_for_whom_it_names_though_it_is_up(collecting) -> None:
    async def act(collector: Collector) -> None:
        collector.log.up, collector.log.readable = True, False
        assert (await collector.posted_avro("v7")).where == "spool"
        await asyncio.sleep(0.1)
        assert collector.log == []
        collector.log.readable = True
        await collector.back()

    collector = collecting(act)
    assert [record.key for record in collector.log] == [*collector.keys.tokens("web", ["v7"]).values()]


def test_events_of_a_new_schema_that_come_together_are_all_sealed_for_whom_they_name(collecting) -> None:
    async def act(collector: Collector) -> None:
        collector.log.up = True
        await asyncio.gather(*(collector.posted_avro(f"v{number}") for number in range(20)))

    collector = collecting(act)
    tokens = collector.keys.tokens("web", [f"v{number}" for number in range(20)])
    assert {record.key for record in collector.log} == set(tokens.values())
    assert len(tokens) == 20
