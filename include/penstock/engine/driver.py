"""One process, many streams: hosts the archive and the shapes of all sources of some domains."""

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JError

from penstock.engine.archive import Archive
from penstock.engine.lease import take
from penstock.engine.posting import post
from penstock.engine.progress import FOLDER, Progress
from penstock.engine.shape import Shape
from penstock.engine.stream import Job, Stream
from penstock.engine.upkeep import Upkeep, keep
from penstock.lake.layout import Layout
from penstock.lake.session import open_session
from penstock.log.schemas import Schemas
from penstock.model.domain import domains
from penstock.model.source import Source
from penstock.model.view import source_of
from penstock.settings import Settings

# Epochs of all streams share two cores; a job that needs more heap than this has epochs that are too large.
SESSION = {
    "spark.driver.memory": "640m",
    # Plans of an epoch are small and never change shape: adapting them costs more than it saves.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
LOOK_SECONDS = 0.25


def run(settings: Settings, chosen: Sequence[Source], release: str, shift_hours: float) -> int:
    """Runs until the shift ends, the stop marker appears or SIGTERM comes; everything else is a crash, and safe."""
    jobs = jobs_of(settings, chosen, release)
    leases = [take(settings.home / "run" / "leases", f"{job.place.job}-{release}") for job in jobs]
    streams = [Stream(job, settings.kafka, settings.home, Progress(job.place.job, release)) for job in jobs]
    wanted = Wanted(settings.home / FOLDER / "stop", shift_hours)
    upkeep = Upkeep(chores(settings, chosen, release))
    spark = open_session(settings, "streams", short=False, **SESSION)
    while wanted.still():
        for stream in streams:
            stream.tend(spark, time.time())
        upkeep.tend(time.time())
        time.sleep(LOOK_SECONDS)
    # The kernel frees the leases with the process. A signal to the whole group has killed the JVM already: also safe.
    with suppress(Py4JError, ConnectionError):
        for stream in streams:
            stream.stop()
        spark.stop()
    upkeep.finish()
    return 0 if leases else 1


def jobs_of(settings: Settings, chosen: Sequence[Source], release: str) -> list[Job]:
    """An archive and a shape for each source."""
    layout, schemas = Layout(settings.lake), Schemas(settings.kafka)

    def shape(source: Source) -> Shape:
        return Shape(source, layout, release, partial(schemas.of_source, source.name))

    return [job for source in chosen for job in (Archive(source, layout), shape(source))]


def chores(settings: Settings, chosen: Sequence[Source], release: str) -> list[Callable[[], object]]:
    """The books of these sources, and the tables that their epochs append to."""
    layout, names = Layout(settings.lake), {source.name for source in chosen}
    views = [view for domain in domains().values() for view in domain.views if source_of(view).name in names]
    tables = [
        *(layout.bronze(name) for name in names),
        *(layout.silver(release, name) for name in names),
        *(layout.speed(release, view.name) for view in views),
        layout.ledger(),
    ]
    books = partial(post, layout, tuple(chosen), release)
    return [books, *(partial(keep, table) for table in tables)]


class Wanted:
    """Whether the driver is still wanted. A marker counts when it is newer than the driver: nobody has to remove it."""

    def __init__(self, marker: Path, hours: float) -> None:
        self._marker, self._begun = marker, time.time()
        self._until = self._begun + hours * 3600
        self._told = False
        signal.signal(signal.SIGTERM, self._tell)

    def still(self) -> bool:
        marked = self._marker.exists() and self._marker.stat().st_mtime >= self._begun
        return not (self._told or marked or time.time() >= self._until)

    def _tell(self, *_: object) -> None:
        self._told = True
