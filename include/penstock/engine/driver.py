"""One process, many streams: hosts the archive and the shapes of all sources of some domains."""

import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from py4j.protocol import Py4JError

from penstock.engine.archive import Archive
from penstock.engine.lease import take
from penstock.engine.progress import FOLDER, Progress
from penstock.engine.shape import Shape
from penstock.engine.stream import Job, Stream
from penstock.lake.layout import Layout
from penstock.lake.session import open_session
from penstock.model.domain import domains
from penstock.settings import Settings

# Epochs of all streams share two cores; a job that needs more heap than this has epochs that are too large.
SESSION = {
    "spark.driver.memory": "640m",
    # Plans of an epoch are small and never change shape: adapting them costs more than it saves.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
LOOK_SECONDS = 0.25


def run(settings: Settings, names: Sequence[str], release: str, shift_hours: float) -> int:
    """Runs until the shift ends, the stop marker appears or SIGTERM comes; everything else is a crash, and safe."""
    jobs = jobs_of(settings, names, release)
    leases = [take(settings.home / "run" / "leases", f"{job.name}-{release}") for job in jobs]
    streams = [Stream(job, settings.kafka, settings.home, Progress(job.name, release)) for job in jobs]
    wanted = Wanted(settings.home / FOLDER / "stop", shift_hours)
    spark = open_session(settings, "streams", short=False, **SESSION)
    while wanted.still():
        for stream in streams:
            stream.tend(spark, time.time())
        time.sleep(LOOK_SECONDS)
    # The kernel frees the leases with the process. A signal to the whole group has killed the JVM already: also safe.
    with suppress(Py4JError, ConnectionError):
        for stream in streams:
            stream.stop()
        spark.stop()
    return 0 if leases else 1


def jobs_of(settings: Settings, names: Sequence[str], release: str) -> list[Job]:
    """An archive and a shape for each source of the named domains; all domains when none is named."""
    layout = Layout(settings.lake)
    jobs: list[Job] = []
    for name in names or domains():
        for source in domains()[name].sources:
            jobs += [Archive(source, layout), Shape(source, layout, release)]
    return jobs


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
