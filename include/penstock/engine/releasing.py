"""A release from its beginning to the day when readers may be switched to it: silver, views, a stream that keeps up."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from pyspark.sql import SparkSession

from penstock.engine.build import Batch
from penstock.engine.gate import recorded
from penstock.engine.lease import take
from penstock.engine.publish import Gate
from penstock.engine.publish import Refused as GateRefused
from penstock.engine.repeating import repeated
from penstock.engine.replay import Replay, Told
from penstock.engine.scope import scope_of
from penstock.engine.shape import Shape
from penstock.lake import audit
from penstock.lake.files import size_of
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import DROPPED, READY, Refused, Release, current, registry
from penstock.lake.replays import ready
from penstock.lake.session import give_way, jvm_of, open_session, session_of
from penstock.log.schemas import Schemas
from penstock.model.domain import domains
from penstock.settings import Settings

FOLDER = Path("run", "replays")


@dataclass
class Progress:
    """What a replay says of itself, in one small file that anyone may read."""

    domain: str
    release: str
    total: int
    stage: str = "silver"
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    begun: float = field(default_factory=time.time)
    seconds: float = 0.0

    def say(self, stage: str, home: Path) -> None:
        self.stage = stage
        self.seconds = round(time.time() - self.begun, 1)
        folder = home / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f".{self.domain}-{self.release}"
        new.write_text(json.dumps(asdict(self)))
        new.replace(folder / f"{self.domain}-{self.release}.json")


def replay(settings: Settings, release: Release, folder: Path, cores: int) -> str:
    """Runs a replay in a session of its own share of the machine, with the release's code in Spark's workers too."""
    with take(settings.home / "run" / "leases", f"replay-{release.domain}-{release.about}"):
        _must_be_wanted(Layout(settings.lake), release)
        if registry(Layout(settings.lake), release.domain).get(release.about).state == READY:
            return f"{release.domain} {release.about} is ready already"
        local = settings.spark_master.startswith("local")
        own = replace(settings, spark_master=f"local[{cores}]") if local else settings
        spark = open_session(own, "replay", short=False, **session_of(folder))
        if local:
            give_way(jvm_of(spark))
        gate = recorded(Layout(settings.lake), release.about)
        schemas = Schemas(settings.kafka)
        return replayed(spark, settings, release, gate, lambda source: schemas.of_source(source))


SchemasOf = Callable[[str], Mapping[int, str]]


def replayed(
    spark: SparkSession, settings: Settings, release: Release, gate: Gate, schemas: SchemasOf = lambda source: {}
) -> str:
    """Silver of every source, then every view behind its gate; recorded, and ready."""
    said = shaped(spark, settings, release, schemas)
    said.say("views", settings.home)
    layout, views = Layout(settings.lake), domains()[release.domain].views
    try:
        # A replay that was killed among its views may have marked rows of days that it had built.
        again = any(open_table(layout.gold(release.about, view.name)) for view in views)
        Batch(spark, layout, release.about, gate).build(views, full=again)
        # What somebody stated meanwhile was said of releases that are kept up, and this one is not yet.
        if sum(repeated(spark, shape) for shape in _shapes(layout, release, schemas)):
            Batch(spark, layout, release.about, gate).build(views, full=True)
    except GateRefused as refusal:
        raise Refused(f"{refusal}\n{release.about} stays as it is, and no reader sees it.") from refusal
    said.say("ready", settings.home)
    return _finished(layout, release, said)


def shaped(
    spark: SparkSession, settings: Settings, release: Release, schemas: SchemasOf = lambda source: {}
) -> Progress:
    """Silver of every source that has bronze."""
    layout, domain = Layout(settings.lake), domains()[release.domain]
    shapes = _shapes(layout, release, schemas)
    records = sum(size_of(layout.bronze(shape.source.name))[0] for shape in shapes)
    said = Progress(domain.name, release.about, records)

    def tell(told: Told) -> None:
        said.sources[told.source] = asdict(told)
        said.say("silver", settings.home)
        _must_be_wanted(layout, release)

    scope = scope_of(registry(layout, domain.name), release.about)
    for shape in shapes:
        expected = _has_facts(layout.silver(current(layout, domain.name), shape.source.name))
        tell(Replay(spark, shape, tell, facts_expected=expected, scope=scope).run())
        repeated(spark, shape)
    return said


def _shapes(layout: Layout, release: Release, schemas: SchemasOf) -> list[Shape]:
    """Of every source that has bronze."""
    sources = [source for source in domains()[release.domain].sources if open_table(layout.bronze(source.name))]
    return [Shape(source, layout, release.about, partial(schemas, source.name)) for source in sources]


def _must_be_wanted(layout: Layout, release: Release) -> None:
    """Somebody may drop a release while it is being made."""
    if registry(layout, release.domain).get(release.about).state == DROPPED:
        raise Refused(
            f"{release.domain} {release.about} was dropped: its replay ends here, and readers saw nothing of it."
        )


def _finished(layout: Layout, release: Release, said: Progress) -> str:
    ready(layout, release)
    counts = {name: told["counts"] for name, told in said.sources.items()}
    before = {"current": current(layout, release.domain)}
    after = {"release": release.about, "code": release.code, "hash": release.hash, "records": said.total, **counts}
    entry = audit.Entry(release.operation, "replay", release.domain, release.who, release.why, "", before, after)
    audit.record(layout, entry)
    return f"{release.domain} {release.about} is ready: {said.total:,} records in {said.seconds:.0f} s, {counts}"


def _has_facts(silver: str) -> bool:
    table = open_table(silver)
    fact = pc.field("disposition") == "fact"
    return table is not None and table.to_pyarrow_dataset().head(1, filter=fact).num_rows > 0
