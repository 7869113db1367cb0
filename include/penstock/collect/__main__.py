"""`python -m penstock.collect`: the collector of this home, until it is told to stop."""

import asyncio
import contextlib
from collections.abc import Collection

import uvicorn
import uvloop

from penstock.collect.access import Access
from penstock.collect.edge import Edge
from penstock.collect.keeping import Keeping
from penstock.collect.metrics import Metrics
from penstock.log.producer import Log
from penstock.log.topics import LogUnreachable, ensure
from penstock.model.domain import domains
from penstock.model.source import Source
from penstock.settings import Settings


async def serve(settings: Settings) -> None:
    sources = {source.name: source for domain in domains().values() for source in domain.sources}
    metrics = Metrics()
    keeping = Keeping(Log(settings.kafka), metrics)
    edge = Edge(sources, Access.read(settings.home / "collector.toml"), keeping, metrics)
    topics = asyncio.create_task(_topics(settings.kafka, sources.values()))
    config = uvicorn.Config(
        edge, host="127.0.0.1", port=settings.collector_port, lifespan="off", access_log=False, server_header=False
    )
    await uvicorn.Server(config).serve()
    topics.cancel()
    await keeping.close()


async def _topics(kafka: str, sources: Collection[Source]) -> None:
    """Makes the topics as soon as there is a log; until then the spool takes the events."""
    while True:
        with contextlib.suppress(LogUnreachable):
            await asyncio.to_thread(ensure, kafka, sources, 5)
            return
        await asyncio.sleep(1)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(Settings.from_env()))
