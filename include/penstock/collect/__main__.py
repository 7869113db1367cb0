"""`python -m penstock.collect`: the collector of this home, until it is told to stop."""

import asyncio
import contextlib
import gc
import logging
import signal
from collections.abc import Callable, Collection, Iterator
from types import FrameType

import uvicorn
import uvloop
from confluent_kafka import KafkaException

from penstock.collect.accepting import Accepting
from penstock.collect.access import Access
from penstock.collect.edge import Edge
from penstock.collect.envelope import Sealing
from penstock.collect.keeping import Keeping
from penstock.collect.later import Answers
from penstock.collect.logs import to_stderr
from penstock.collect.metrics import Metrics
from penstock.collect.places import Places
from penstock.collect.posted import posting
from penstock.collect.receipts import Receipts
from penstock.collect.registry.desk import Desk
from penstock.collect.registry.reading import Reading
from penstock.collect.registry.schemas import Registry
from penstock.collect.spool import Spool
from penstock.collect.stages import Stages
from penstock.collect.subscribe import Subscriptions
from penstock.collect.wire import sweep
from penstock.keys.sealing import Sealers
from penstock.keys.store import Keys
from penstock.lake.layout import Layout
from penstock.log.producer import Log
from penstock.log.topics import LogUnreachable, ensure
from penstock.model.domain import domains
from penstock.model.source import Source
from penstock.settings import Settings

log = logging.getLogger("penstock.collect")

# Python looks for cycles after 700 new objects: a batch makes as many, leaves no cycle, and a seventh of it went there.
OBJECTS = 10_000


class Server(uvicorn.Server):
    """Stops when told and then returns, so that what is under way can be finished; uvicorn's own would die."""

    def __init__(self, config: uvicorn.Config, farewell: Callable[[], None]) -> None:
        super().__init__(config)
        self._farewell = farewell

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._farewell()
        super().handle_exit(sig, frame)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for told in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(told, self.handle_exit, told, None)
        yield


async def serve(settings: Settings) -> None:
    sources = {source.name: source for domain in domains().values() for source in domain.sources}
    metrics = Metrics()
    access = Access.read(settings.home / "collector.toml")
    spool = Spool(settings.home / "spool", access.limits.spool)
    registry = Registry(settings.kafka)
    sealing = Sealing(Sealers(Keys.of_home(settings.home)), Reading(registry))
    keeping = Keeping(Log(settings.kafka), spool, metrics, sealing.again)
    answers = Answers(Receipts.of_home(settings.home), Stages(Layout(settings.lake)), access.limits)
    subscriptions = Subscriptions(settings.kafka, Keys.of_home(settings.home), access.limits.subscribers, metrics)
    accepting = Accepting(sources, access, keeping, metrics, answers, sealing, Places(settings.places))
    edge = Edge(accepting, answers, subscriptions, Desk(registry, access))
    topics = asyncio.create_task(_topics(settings.kafka, sources.values()))
    config = uvicorn.Config(
        edge,
        host=settings.listen,
        port=settings.collector_port,
        http=posting(accepting),
        lifespan="off",
        # uvicorn would believe X-Forwarded-For of anybody on this machine; access.py knows whom to believe.
        proxy_headers=False,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )
    server = Server(config, subscriptions.end)
    sweeper = asyncio.create_task(sweep(server.server_state.connections))
    await server.serve()
    topics.cancel()
    sweeper.cancel()
    await keeping.close()


async def _topics(kafka: str, sources: Collection[Source]) -> None:
    """Makes the topics as soon as there is a log; until then the spool takes the events."""
    while True:
        try:
            await asyncio.to_thread(ensure, kafka, sources, 5)
            return
        except (LogUnreachable, KafkaException) as error:
            log.warning("the topics are not there yet: %s", error)
            await asyncio.sleep(1)


if __name__ == "__main__":
    to_stderr()
    gc.freeze()
    gc.set_threshold(OBJECTS)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(Settings.from_env()))
