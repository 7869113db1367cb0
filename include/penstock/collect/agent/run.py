"""Reads an agent's YAML and runs it: every source through the interceptors into the channel, and on to the sinks."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import yaml

from penstock.collect.agent import sinks, sources, streams
from penstock.collect.agent.chained import Chained
from penstock.collect.agent.formats import Event
from penstock.collect.agent.interceptors import INTERCEPTORS, Intercept
from penstock.collect.frames import Damaged, records
from penstock.collect.ids import uuid7s
from penstock.collect.spool import Spool
from penstock.log.producer import Record
from penstock.settings import SettingError

log = logging.getLogger("penstock.agent")

SINKS: dict[str, Callable[..., sinks.Sink]] = {
    "http": sinks.Http,
    "kafka": sinks.Kafka,
    "file": sinks.File,
    "logger": sinks.Logger,
}


@dataclass(frozen=True)
class Agent:
    name: str
    sources: dict[str, sources.Source]
    interceptors: list[Intercept]
    sinks: list[sinks.Sink]
    spool: Spool | None


def read(file: Path, home: Path) -> Agent:
    """The agent that a file describes. A mistake in it is told at once, with its place."""
    try:
        told = yaml.safe_load(file.read_text())
        if not isinstance(told, dict):
            raise ValueError("it is no YAML of a name, sources and sinks; docs/agents.md has examples")
        name = str(told["name"])
        state = home / "run" / "agents" / name
        return Agent(
            name,
            {each: _source(state / f"{each}.json", **of) for each, of in told["sources"].items()},
            [_made(INTERCEPTORS, "interceptor", **of) for of in told.get("interceptors", [])],
            [_made(SINKS, f"sink {each}", **of) for each, of in told["sinks"].items()],
            _channel(state, **told.get("channel", {"kind": "memory"})),
        )
    except OSError as error:
        raise SettingError(f"{file} cannot be read ({error.strerror}). See docs/agents.md.") from error
    except (KeyError, TypeError, ValueError, AttributeError, LookupError, yaml.YAMLError) as error:
        raise SettingError(f"{file} does not describe an agent: {type(error).__name__}: {error}") from error


def _made(kinds: dict[str, Callable[..., Any]], what: str, kind: str, **options: Any) -> Any:
    if kind not in kinds:
        raise ValueError(f"{what}: there is no kind {kind!r}; there are: {', '.join(kinds)}")
    return kinds[kind](**options)


def _source(state: Path, kind: str, **options: Any) -> sources.Source:
    if kind in streams.STREAMS:
        return streams.Stream(streams.STREAMS[kind], **options)
    kinds: dict[str, Callable[..., sources.Source]] = {
        "tail": partial(sources.Tail, state),
        "http": Chained,
        "lines": sources.Lines,
        "sequence": sources.Sequence,
    }
    made: sources.Source = _made(kinds, f"source {state.stem}", kind, **options)
    return made


def _channel(state: Path, kind: str, limit: int = 256 * 1024 * 1024) -> Spool | None:
    if kind not in ("memory", "spool"):
        raise ValueError(f"channel: there is no kind {kind!r}; there are: memory, spool")
    return Spool(state / "spool", limit) if kind == "spool" else None


async def run(agent: Agent) -> None:
    """Until every source has ended, which only generators do, and everything is in the sinks."""
    async with asyncio.TaskGroup() as group:
        draining = group.create_task(_drain(agent, agent.spool)) if agent.spool else None
        await asyncio.gather(*(_carry(agent, source) for source in agent.sources.values()))
        if agent.spool is not None and draining is not None:
            while not agent.spool.idle():
                await asyncio.sleep(0.05)
            draining.cancel()


async def _carry(agent: Agent, source: sources.Source) -> None:
    async for batch in source.batches():
        events = [event for event in (_intercepted(agent, event) for event in batch) if event is not None]
        if len(events) < len(batch):
            log.info("%s: %d events dropped by rule", agent.name, len(batch) - len(events))
        if events:
            await _into_channel(agent, events)
        source.safe()


def _intercepted(agent: Agent, event: Event) -> Event | None:
    # An id from here on, so that whatever is sent twice is one event.
    passed: Event | None = event if "event_id" in event else {"event_id": uuid7s(1)[0], **event}
    for intercept in agent.interceptors:
        if passed is not None:
            passed = intercept(passed)
    return passed


async def _into_channel(agent: Agent, events: list[Event]) -> None:
    """The memory channel is one batch on its way; the spool answers when the batch is on disk."""
    if agent.spool is None:
        await asyncio.gather(*(sink.put(events) for sink in agent.sinks))
        return
    frames = [Record(agent.name, orjson.dumps(event), None, {}) for event in events]
    while True:
        try:
            await agent.spool.append(frames)
            return
        except OSError as error:
            log.warning("%s waits: %s", agent.name, error)
            await asyncio.sleep(1)


async def _drain(agent: Agent, spool: Spool) -> None:
    while True:
        segments = spool.closed() or await spool.close_all()
        for segment in segments:
            try:
                events = [orjson.loads(record.value) for record in records(segment)]
            except Damaged as error:
                log.error("%s: a spool segment is damaged and was set aside: %s", agent.name, error)
                spool.set_aside(segment)
                continue
            for first in range(0, len(events), sources.BATCH):
                batch = events[first : first + sources.BATCH]
                await asyncio.gather(*(sink.put(batch) for sink in agent.sinks))
            spool.remove(segment)
        if not segments:
            await asyncio.sleep(0.05)
