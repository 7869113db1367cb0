"""A release from its beginning to the day when readers may be switched to it: silver, views, a stream that keeps up."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.engine import arrived
from penstock.engine.build import Batch
from penstock.engine.gate import recorded
from penstock.engine.halting import halted
from penstock.engine.lease import leases_in, take
from penstock.engine.publish import Gate
from penstock.engine.publish import Refused as GateRefused
from penstock.engine.repeating import repeated
from penstock.engine.replay import Replay, Told
from penstock.engine.retraction import lenient
from penstock.engine.scope import scope_of
from penstock.engine.shape import Shape
from penstock.engine.shapes import OfTables, shape_of
from penstock.engine.suites import vocabulary_beside
from penstock.engine.taken import Taken
from penstock.lake import audit
from penstock.lake.files import size_of
from penstock.lake.hands import ahead, hands
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import DROPPED, PAUSED, READY, Refused, Release, current, registry
from penstock.lake.replaying import DONE, SILVER, VIEWS, Progress
from penstock.lake.replaying import said as last_said
from penstock.lake.replays import ready
from penstock.lake.retractions import RETRACTIONS
from penstock.lake.session import give_way, jvm_of, once_needed, open_session, session_of
from penstock.lake.spark_settings import few_cores, on_one_machine, spark_conf
from penstock.log.schemas import Schemas
from penstock.model.domain import domains, views_of
from penstock.settings import Settings

# A replay that is paused looks so often whether it may go on.
LOOK_SECONDS = 2.0
# What shapes and counts views.
NEEDED = ("penstock.engine.replay", "penstock.engine.daily")


def replay(settings: Settings, release: Release, folder: Path, cores: int, approved_by: str = "") -> str:
    """Runs a replay in a session of its own share of the machine, with the release's code in Spark's workers too."""
    with take(leases_in(settings.home), f"replay-{release.domain}-{release.about}"):
        _must_be_wanted(Layout(settings.lake), release)
        if _is_ready(Layout(settings.lake), release) and _is_recorded(Layout(settings.lake), release):
            return f"{release.domain} {release.about} is ready already"
        with session(settings, release.domain, folder, cores) as spark:
            gate = recorded(Layout(settings.lake), release.about)
            schemas = Schemas(settings.kafka)
            return replayed(spark, settings, release, gate, lambda source: schemas.of_source(source), approved_by)


def prepared(settings: Settings) -> None:
    """What takes a second, and needs nothing of the release."""
    if on_one_machine(settings):
        ahead(NEEDED)


@contextmanager
def session(settings: Settings, domain: str, folder: Path, cores: int) -> Iterator[SparkSession]:
    """One of the replay's share of the machine. Where the work is DuckDB's, other processes do it, and Spark starts
    when it is asked for more."""
    apart = in_workers(domain)

    def opened(own: Settings) -> SparkSession:
        # What a JVM would compile for later, no replay of it lives to use.
        return open_session(own, "replay", short=few_cores() and apart, **session_of(folder))

    def beside() -> SparkSession:
        spark = opened(replace(settings, spark_master=f"local[{cores}]"))
        give_way(jvm_of(spark))
        return spark

    if not on_one_machine(settings):
        yield opened(settings)
    elif not apart:
        yield beside()
    else:
        with hands(cores, [f"domains.{domain}.shapes"]) as own:
            yield once_needed(beside, own, spark_conf(settings))


def in_workers(domain: str) -> bool:
    """Whether all work is DuckDB's."""
    return all(isinstance(shape_of(source), OfTables) for source in domains()[domain].sources)


SchemasOf = Callable[[str], Mapping[int, str]]


def replayed(
    spark: SparkSession,
    settings: Settings,
    release: Release,
    gate: Gate,
    schemas: SchemasOf = lambda source: {},
    approved_by: str = "",
) -> str:
    """Silver of every source, then every view behind its gate; ready, and recorded."""
    layout, shapes = Layout(settings.lake), _shapes(Layout(settings.lake), release, schemas)
    # One that was killed when it was ready already has only its end left: its stream may have gone on.
    ending = _is_ready(layout, release)
    before = last_said(settings.home, release.domain, release.about)
    # Rows may have been marked of days that were built, by this or by the release that they were taken over from.
    again = before is not None if release.view else _has_views(layout, release)
    said, changed = (
        (before or Progress(release.domain, release.about, 0), False)
        if ending
        else shaped(spark, settings, release, schemas)
    )
    try:
        if not ending:
            said.say(VIEWS, settings.home)
            _build(spark, layout, release, gate, full=changed or again)
            # What somebody stated meanwhile was said of releases that are kept up, and this one is not yet.
            while _stated(spark, settings, release, shapes, said):
                _build(spark, layout, release, gate, full=True)
        # Its stream waits until this has what was stated in the moment before it was ready.
        with halted(settings.home, [f"{shape.place.job}-{release.about}" for shape in shapes]):
            if not ending:
                ready(layout, release)
            late = _stated(spark, settings, release, shapes, said)
        if late or ending:
            _build(spark, layout, release, gate, full=True)
    except GateRefused as refusal:
        raise Refused(f"{refusal}\n{release.about} stays as it is, and no reader sees it.") from refusal
    said.say(DONE, settings.home)
    return _finished(layout, release, said, approved_by)


def shaped(
    spark: SparkSession, settings: Settings, release: Release, schemas: SchemasOf = lambda source: {}
) -> tuple[Progress, bool]:
    """Silver of every source that has bronze; and whether anything that people have stated changed it just now."""
    layout, changed = Layout(settings.lake), False
    shapes = _shapes(layout, release, schemas)
    records = sum(size_of(layout.bronze(shape.source.name))[0] for shape in shapes)
    said = Progress(release.domain, release.about, records)
    tell = partial(_tell, settings, release, said)
    for shape in shapes:
        all_of_it, more = facts_of(spark, release, shape, tell)
        tell(all_of_it())
        changed |= repeated(spark, shape, more)
    return said, changed


def facts_of(
    spark: SparkSession, release: Release, shape: Shape, tell: Callable[[Told], None]
) -> tuple[Callable[[], Told], Callable[[], Told]]:
    """How a release comes by the facts of a source, at first and when it lacks some of them: they are shaped from
    bronze, or taken over where one view is replayed."""
    layout, now = shape.layout, registry(shape.layout, release.domain)
    if release.view:
        taken = Taken(shape, now.base(release.about))
        return taken.run, taken.more
    expected = _has_facts(layout.silver(now.current, shape.source.name))
    made = Replay(spark, shape, tell, facts_expected=expected, scope=scope_of(now, release.about))
    # What people have stated may leave no fact.
    return made.run, replace(made, facts_expected=False).run


def _tell(settings: Settings, release: Release, said: Progress, told: Told) -> None:
    said.sources[told.source] = asdict(told)
    said.say(SILVER, settings.home)
    _must_be_wanted(Layout(settings.lake), release)


def _stated(spark: SparkSession, settings: Settings, release: Release, shapes: list[Shape], said: Progress) -> bool:
    """Says of the new release what has been stated by now. True: its silver changed, and its views are old."""
    tell = partial(_tell, settings, release, said)
    changed = [repeated(spark, shape, facts_of(spark, release, shape, tell)[1]) for shape in shapes]
    said.say(VIEWS, settings.home)
    return any(changed)


def _has_views(layout: Layout, release: Release) -> bool:
    """A replay that was killed among its views may have marked rows of days that it had built."""
    return any(open_table(layout.gold(release.about, view.name)) for view in domains()[release.domain].views)


def _build(spark: SparkSession, layout: Layout, release: Release, gate: Gate, full: bool) -> None:
    # Others count the views meanwhile; before it all cores shape.
    vocabulary_beside()
    Batch(spark, layout, release.about, gate).build(domains()[release.domain].views, full=full)
    for source in domains()[release.domain].sources:
        silver, said = open_table(layout.silver(release.about, source.name)), RETRACTIONS.in_force(layout, source.name)
        # Where every fact was retracted no epoch has any, and the build above has left the old numbers as they are.
        if silver and said and arrived.last_epoch(silver) < 0:
            empty = Batch(spark, layout, release.about, lenient(gate, said[-1]))
            empty.least = arrived.newest(silver)
            empty.build(views_of(source), full=True)


def _shapes(layout: Layout, release: Release, schemas: SchemasOf) -> list[Shape]:
    """Of every source that has bronze."""
    sources = [source for source in domains()[release.domain].sources if open_table(layout.bronze(source.name))]
    return [Shape(source, layout, release.about, partial(schemas, source.name)) for source in sources]


def _must_be_wanted(layout: Layout, release: Release) -> None:
    """Somebody may drop a release while it is being made, or let it wait; it then waits here, between two epochs."""
    while (state := registry(layout, release.domain).get(release.about).state) == PAUSED:
        time.sleep(LOOK_SECONDS)
    if state == DROPPED:
        raise Refused(
            f"{release.domain} {release.about} was dropped: its replay ends here, and readers saw nothing of it."
        )


def _is_ready(layout: Layout, release: Release) -> bool:
    return registry(layout, release.domain).get(release.about).state == READY


def _is_recorded(layout: Layout, release: Release) -> bool:
    told = audit.entries(layout, release.domain, sys.maxsize)
    return any((entry.operation, entry.what) == (release.operation, "replay") for entry in told)


def _finished(layout: Layout, release: Release, said: Progress, approved_by: str) -> str:
    counts = {name: told["counts"] for name, told in said.sources.items()}
    before = {"current": current(layout, release.domain)}
    after = {"release": release.about, "code": release.code, "hash": release.hash, "records": said.total, **counts}
    after |= {"view": release.view} if release.view else {}
    entry = audit.Entry(
        release.operation, "replay", release.domain, release.who, release.why, approved_by, before, after
    )
    audit.record(layout, entry)
    return f"{release.domain} {release.about} is ready: {said.total:,} records in {said.seconds:.0f} s, {counts}"


def _has_facts(silver: str) -> bool:
    table = open_table(silver)
    return table is not None and arrived.last_epoch(table) >= 0
