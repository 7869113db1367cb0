"""One process, many streams: hosts the archive and the shapes of all sources of a group."""

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JError

from penstock.engine.alarm import Alarms
from penstock.engine.archive import Archive
from penstock.engine.herald import Herald
from penstock.engine.lag import Lag
from penstock.engine.lease import asked_to_end, leases_in, take
from penstock.engine.posting import post
from penstock.engine.progress import Progress
from penstock.engine.shape import Shape
from penstock.engine.stream import Job, Stream
from penstock.engine.upkeep import Tended, Upkeep
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.releases import kept
from penstock.lake.session import open_session, session_of
from penstock.lake.spark_settings import few_cores, pages
from penstock.log.alerts import Alerts, Once
from penstock.log.schemas import Schemas
from penstock.model.domain import domains
from penstock.model.group import Group
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
KEPT_SECONDS = 10.0


def run(settings: Settings, group: Group, release: str, shift_hours: float, code: Path | None = None) -> int:
    """Runs until the shift ends, somebody asks for one of its leases or SIGTERM comes; all else is a crash, and safe.

    `code`: the folder of a release's own code, for Spark's workers. A stream ends when nobody keeps its release.
    """
    chosen, place = group.sources, leases_in(settings.home)
    jobs = jobs_of(settings, chosen, release)
    leases = {job.place.job: take(place, f"{job.place.job}-{release}") for job in jobs}
    told = [Progress(job.place.job, release, group=group.name) for job in jobs]
    known = [Lag(said.level_at(settings.home)) for said in told]
    each = zip(jobs, told, known, strict=True)
    streams = [Stream(job, settings.kafka, settings.home, said, lag=lag) for job, said, lag in each]
    wanted = Wanted(place, [f"{job}-{release}" for job in leases], shift_hours)
    upkeep = Upkeep(chores(settings, chosen, release))
    tell = Once(Alerts(settings.kafka).tell).tell
    alarms, herald = Alarms(Layout(settings.lake), chosen, tell, release), Herald(settings, chosen, tell, release)
    keeping = Kept(Layout(settings.lake), release)
    # Plans and bytes are all that the JVM has to do: docs/decisions/0043.
    conf = {**pages(settings), **SESSION, **session_of(code)}
    spark = open_session(settings, "streams", short=few_cores(), **conf)
    alarms.start()
    herald.start()
    while wanted.still() and streams:
        for stream in streams:
            stream.tend(spark, time.time())
        for stream in [each for each in streams if not keeping.still(each.job)]:
            stream.stop()
            stream.progress.forget(settings.home)
            leases[stream.job.place.job].close()
            streams.remove(stream)
        upkeep.tend(time.time())
        time.sleep(LOOK_SECONDS)
    # The kernel frees the leases with the process. A signal to the whole group has killed the JVM already: also safe.
    with suppress(Py4JError, ConnectionError):
        for stream in streams:
            stream.stop()
        spark.stop()
    upkeep.finish()
    herald.stop()
    alarms.stop()
    for lease in leases.values():
        lease.close()
    return 0


def jobs_of(settings: Settings, chosen: Sequence[Source], release: str) -> list[Job]:
    """A shape for each source, and an archive beside those of the first release: records are archived once."""
    layout, schemas = Layout(settings.lake), Schemas(settings.kafka)

    def shape(source: Source) -> Shape:
        return Shape(source, layout, release, partial(schemas.of_source, source.name))

    archives: list[Job] = [Archive(source, layout) for source in chosen] if release == FIRST_RELEASE else []
    shapes: list[Job] = [shape(source) for source in chosen if release in kept(layout, source.domain)]
    return [*archives, *shapes]


def chores(settings: Settings, chosen: Sequence[Source], release: str) -> list[Callable[[], object]]:
    """The books of these sources, and the tables that their epochs append to."""
    layout, names = Layout(settings.lake), {source.name for source in chosen}
    views = [view for domain in domains().values() for view in domain.views if source_of(view).name in names]
    tables = [
        *(layout.bronze(name) for name in names if release == FIRST_RELEASE),
        *(layout.silver(release, name) for name in names),
        *(layout.speed(release, view.name) for view in views),
        layout.ledger(),
    ]
    books = partial(post, layout, tuple(chosen), release)
    return [books, *map(Tended, tables)]


class Kept:
    """Whether a stream's release is still kept up. Records are archived whatever becomes of any release."""

    def __init__(self, layout: Layout, release: str) -> None:
        self._layout, self._release = layout, release
        self._known: dict[str, tuple[float, bool]] = {}

    def still(self, job: Job) -> bool:
        domain, now = job.source.domain, time.time()
        due, is_kept = self._known.get(domain, (0.0, True))
        if isinstance(job, Archive):
            return True
        if now >= due:
            is_kept = self._release in kept(self._layout, domain)
            self._known[domain] = now + KEPT_SECONDS, is_kept
        return is_kept


class Wanted:
    """Whether the driver is still wanted: nobody has asked for any of its leases since it began."""

    def __init__(self, place: Path, leases: Sequence[str], hours: float) -> None:
        self._asked = partial(asked_to_end, place, leases)
        self._begun = time.time()
        self._until = self._begun + hours * 3600
        self._told = False
        signal.signal(signal.SIGTERM, self._tell)

    def still(self) -> bool:
        return not (self._told or self._asked(self._begun) or time.time() >= self._until)

    def _tell(self, *_: object) -> None:
        self._told = True
