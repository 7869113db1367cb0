"""Keeps records: on the log, or in the spool until the log has them. Whoever awaits `keep` may answer 2xx.

While the spool holds anything, everything goes there, so that the log gets it in order. When only its last
segment is left, senders wait the moment that it takes to hand that over; then the log is direct again.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from penstock.collect.frames import Damaged, records
from penstock.collect.metrics import Metrics
from penstock.collect.refusal import Refusal
from penstock.collect.spool import Spool, SpoolFull
from penstock.log.producer import Log, LogDown, NeverTaken, Position, Record

log = logging.getLogger("penstock.collect")

# How long a log that was down is left alone, and how often other collectors' slots are looked at.
BACKOFF = 0.5
ADOPT = 10.0
CHUNK = 2000
# The header of a record that is not sealed for whom it names yet: only the log knows its schema.
UNREAD = "unread"


class Unsafe(Exception):
    """Neither the log nor the spool can keep it now."""


class Kept(NamedTuple):
    """Where records are: `log` or `spool`, and, if it was asked for, at which positions of the log."""

    where: str
    positions: list[Position]


class Keeping:
    def __init__(
        self, producer: Log, spool: Spool, metrics: Metrics, read_again: Callable[[Record], Awaitable[Record]]
    ) -> None:
        self._read_again = read_again
        self.log = producer
        self.spool = spool
        self.metrics = metrics
        self._accepted = metrics.counter("penstock_accepted_total", "source", "kept")
        self._spooling = not spool.idle()
        self._open = asyncio.Event()
        self._open.set()
        self._wake = asyncio.Event()
        self._wake.set()
        self._drainer = asyncio.create_task(self._drain_for_ever())
        metrics.gauge("penstock_spool_bytes", lambda: float(spool.size))

    async def keep(self, records: list[Record], placed: bool = False) -> Kept:
        """Returns where the records are safe; raises Unsafe where they are nowhere, Refusal where they never can be."""
        if not self._open.is_set():
            await self._open.wait()
        if not self._spooling:
            try:
                positions = await self._to_log(records, placed)
            except NeverTaken as error:
                raise Refusal("event_too_large", str(error)) from error
            except LogDown as error:
                if not self._spooling:
                    log.warning("the log is down (%s): events go to the spool", error)
            else:
                return self._kept("log", records, positions)
        await self._to_spool(records)
        return self._kept("spool", records, [])

    def _kept(self, where: str, records: list[Record], positions: list[Position]) -> Kept:
        self._accepted[records[0].topic, where] += len(records)
        return Kept(where, positions)

    def _to_log(self, records: list[Record], placed: bool) -> "asyncio.Future[list[Position]]":
        if UNREAD in records[0].shared:
            raise LogDown("it does not say what schema an Avro event has")
        return self.log.append(records, placed)

    async def _to_spool(self, records: list[Record]) -> None:
        self._spooling = True
        self._wake.set()
        try:
            await self.spool.append(records)
        except SpoolFull as error:
            raise Unsafe(str(error)) from error

    async def _drain_for_ever(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ADOPT):
                    await self._wake.wait()
            self._wake.clear()
            await self._adopt()
            try:
                if self._spooling:
                    await self._reached()
                    await self._drain()
            except LogDown as error:
                log.warning("the spool waits for the log: %s", error)
                self._wake.set()
                await asyncio.sleep(BACKOFF)
            except Exception:
                # A drainer that died would leave acknowledged events behind.
                log.exception("the spool could not be drained; trying again")
                self._wake.set()
                await asyncio.sleep(BACKOFF)

    async def _reached(self) -> None:
        while not await self.log.answers():
            await asyncio.sleep(BACKOFF)

    async def _adopt(self) -> None:
        """Takes over what collectors that are gone left in their slots."""
        adopted = await asyncio.to_thread(self.spool.adopt)
        if adopted:
            self.spool.size += adopted
            self._spooling = True

    async def _drain(self) -> None:
        while closed := self.spool.closed():
            await self._send(closed)
        self._open.clear()
        try:
            while not self.spool.idle():
                await self._send(await self.spool.close_all())
            self._spooling = False
        finally:
            self._open.set()
        log.warning("the spool is empty: the log takes events again")

    async def _send(self, segments: list[Path]) -> None:
        for segment in segments:
            try:
                await self._send_segment(segment)
            except Damaged as error:
                log.error("a spool segment is damaged and was set aside: %s", error)
                self.metrics.add("penstock_spool_damaged_total")
                self.spool.set_aside(segment)
            else:
                self.spool.remove(segment)

    async def _send_segment(self, segment: Path) -> None:
        waiting = records(segment)
        while chunk := list(islice(waiting, CHUNK)):
            chunk = [await self._read_again(one) if UNREAD in one.shared else one for one in chunk]
            try:
                await self.log.append(chunk)
            except NeverTaken as error:
                raise Damaged(f"{segment.name}: the log does not take a record: {error}") from error
            self.metrics.add("penstock_drained_total", len(chunk))

    def state(self) -> str:
        return "spooling" if self._spooling else "direct"

    def ready(self) -> bool:
        """Whether events can be kept: the log is up, or the spool has room."""
        return not self._spooling or self.spool.size < self.spool.limit

    async def close(self) -> None:
        """What the log has not taken stays in the spool for the next collector."""
        self._drainer.cancel()
        await self.log.close()
        await self.spool.close_all()
        self.spool.close()
