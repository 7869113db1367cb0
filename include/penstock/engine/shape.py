"""The shape: every record of a source becomes one row of silver: a fact, rejected or a duplicate."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from penstock.engine import silver
from penstock.engine.avro import named
from penstock.engine.balance import balanced
from penstock.engine.behind import Behind
from penstock.engine.checkpoints import Place, notes, places
from penstock.engine.commit import Appender, Tables
from penstock.engine.damage import refuse_gone
from penstock.engine.dispositions import disposed
from penstock.engine.epoch import Epoch
from penstock.engine.history import committed_facts, remembered
from penstock.engine.ids import Seen
from penstock.engine.shapes import collected, planned, planned_apart
from penstock.engine.speed import append
from penstock.engine.stream import Outdated
from penstock.lake.layout import Layout
from penstock.lake.profiles import Profiles, known, profiles_of
from penstock.lake.retention import Announced
from penstock.lake.rewinds import refuse_unfinished
from penstock.model.domain import views_of
from penstock.model.source import Source

# Records of an epoch: they pass through the driver, and are seen when all of them are.
FULL = 100_000


@dataclass
class Shape:
    """One source's way from the log to one release of its silver."""

    source: Source
    layout: Layout
    release: str
    # The Avro schemas that producers have registered for the source, by id.
    schemas: Callable[[], Mapping[int, str]] = dict
    seen: Seen = field(default_factory=Seen)
    planned: Mapping[int, str] = field(default_factory=dict)
    tables: Tables = field(default_factory=Tables)
    # The judgement and the commit of a large epoch, and the partials of any.
    late: Behind = field(default_factory=Behind)
    behind: Behind = field(default_factory=Behind)
    # What other sources say of the keys of this one's facts.
    profiles: Mapping[str, Profiles] = field(default_factory=dict)
    announced: Announced = field(init=False)

    @property
    def place(self) -> Place:
        return places(self.layout, self.source.name, self.release)[1]

    @property
    def every(self) -> str:
        return "500 milliseconds"

    @property
    def pace(self) -> Mapping[str, str]:
        return {"maxOffsetsPerTrigger": str(FULL)}

    def prepare(self) -> None:
        """Opens the table and remembers the last day's ids; done again whenever the stream starts."""
        refuse_unfinished(self.layout, self.source.domain)
        refuse_gone(self.layout, self.release, self.source)
        self.finish()
        self.tables.clear()
        self._silver()
        silver.widen(self.place.table)
        self.profiles = profiles_of(self.layout, self.release, views_of(self.source))
        self.announced = Announced(self.layout, self.release, self.source.name)
        self.seen = remembered(self.place.table)
        self._catch_up()

    def plan(self, records: DataFrame) -> DataFrame:
        """The shape, with the schemas that are registered by now."""
        self.planned = self.schemas()
        return planned(records, self.source, self.planned)

    def epoch(self, batch: DataFrame, epoch: Epoch) -> Mapping[str, int]:
        """Writes one epoch of dispositions to silver, in one commit; its partials while the next one is read.

        Of a large epoch all that follows the task is done while the next one's task works: Spark's checkpoint is then
        ahead of silver by an epoch, and who starts again believes silver (engine/checkpoints.py).
        """
        if self.late.idle and self._silver().committed(epoch.query) >= epoch.number:
            # A crash came after it: what silver says is what happened.
            self.speed(committed_facts(self.place.table, epoch.number), epoch)
            return {}
        with epoch.stage("read"):
            shaped = collected(self._apart(batch.sparkSession, epoch) or batch, self.source)
            self._must_know(named(shaped["value"]))
        with epoch.stage("late"):
            self.late.settle()
        if epoch.read is None:
            return self._written(shaped, epoch)
        self.late.leave(partial(self._written, shaped, epoch.left()))
        return {"rows": shaped.num_rows}

    def _written(self, shaped: pa.Table, epoch: Epoch) -> Mapping[str, int]:
        """Judged, balanced and committed, in the order of the epochs."""
        with epoch.stage("judge"):
            told = known({name: each.ends() for name, each in self.profiles.items()})
            rows = disposed(shaped, self.seen, self.source, epoch.number, told, self.announced.now())
            counts = balanced(rows, epoch.expected(rows.num_rows), self.source)
        with epoch.stage("behind"):
            self.behind.settle()
        with epoch.stage("silver"):
            self._silver().append(rows, epoch.query, epoch.number, topic=epoch.topic)
            self.seen.remember_facts(rows)
        self.behind.leave(partial(self.speed, silver.facts(rows), epoch))
        return counts

    def settled(self) -> bool:
        return self.late.idle

    def shown(self) -> bool:
        return self.late.idle and self.behind.idle

    def check(self) -> None:
        self.late.check()
        self.behind.check()

    def finish(self) -> None:
        self.late.drop()
        self.behind.drop()

    def speed(self, facts: pa.Table, epoch: Epoch) -> None:
        """Commits the partials of an epoch's facts, of every view of the source."""
        views = views_of(self.source)
        if views and facts.num_rows:
            to = (epoch.number, epoch.query, self.tables, self.profiles)
            append(None, self.layout, self.release, views, facts, *to)

    def _catch_up(self) -> None:
        """Speed tables are at most one epoch behind silver; of one that a replay wrote they have nothing."""
        told = notes(DeltaTable(self.place.table))
        if told and "archived" not in told[0]:
            epoch = Epoch(told[0]["query"], int(told[0]["epoch"]), 0)
            self.speed(committed_facts(self.place.table, epoch.number), epoch)

    def _apart(self, spark: SparkSession, epoch: Epoch) -> DataFrame | None:
        """A large epoch by tasks that read the log by themselves, one a core, where Spark is not needed for more."""
        if epoch.read is None or self.planned:
            return None
        return planned_apart(spark, self.source, epoch.read(spark.sparkContext.defaultParallelism))

    def _silver(self) -> Appender:
        return self.tables.of(self.place.table, silver.schema(self.source), silver.INDEXED)

    def _must_know(self, numbers: set[int]) -> None:
        """A writer registers its schema before it writes: whoever names a new one has to be planned for first."""
        if numbers - set(self.planned) and (numbers & set(self.schemas())) - set(self.planned):
            raise Outdated(f"{self.source.name} has records of a schema that came after the query was planned")

    def shaped(self, batch: DataFrame) -> pa.Table:
        """What the domain makes of records, with what the engine adds to each."""
        return collected(planned(batch, self.source, self.schemas()), self.source)
