"""What a build makes, by key, of the facts that came since a view's last cut: rows for gold, and the days they replace.

Tallies, which need no other day's facts, are in engine/tallied.py."""

from collections.abc import Iterable
from datetime import date, timedelta
from functools import cache, cached_property, partial

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine import arrived, candidate, inmemory, latest, perkey, sessions
from penstock.engine.daily import MANY_ROWS
from penstock.engine.nights import Nights
from penstock.lake.files import size_of
from penstock.lake.layout import Layout
from penstock.model.view import Latest, PerKey, Sessions, View

Range = tuple[date, date] | None
# The days that rows replace; None: all of them.
Days = list[date] | None
Rows = tuple[DataFrame, Days]
# Rows that a function of Python's gets one by one: as many as take it a few seconds.
FEW_ROWS = 50_000
# A session that began on the day before may reach a fact.
NEAR = timedelta(days=1)


class Increment:
    """One source's facts at one version of silver, for views by key that are built beside each other.

    `until`: days whose facts have expired. What is new of them was rebuilt, and is counted by now."""

    def __init__(
        self, spark: SparkSession, layout: Layout, release: str, silver: DeltaTable, until: date | None = None
    ) -> None:
        self.spark = spark
        self.layout = layout
        self.release = release
        # One version for all views, however long they take and whatever the stream commits meanwhile.
        self._silver = silver
        self._until = until or date.min
        # Most views ask for the same days.
        self._days = cache(partial(arrived.days, silver, until))

    @cached_property
    def facts(self) -> DataFrame:
        at_version = self.spark.read.format("delta").option("versionAsOf", self._silver.version())
        return at_version.load(self._silver.table_uri).where("disposition = 'fact'")

    def write(self, view: View, since: int | None, days: Range, path: str) -> Days:
        """Makes a view's candidate of the facts since a cut (None: of all), and of these days; the days it replaces."""
        if isinstance(view, Sessions):
            return self._sessions(view, since, days, path)
        if made := self._in_memory(view, since, days):
            rows, touched = made
            candidate.save(rows, path)
            return touched
        frame, touched = self._frame(view, since, days)
        candidate.write(frame, path)
        return touched

    def _sessions(self, view: Sessions, since: int | None, days: Range, path: str) -> Days:
        made = Nights(self.spark, self._silver, view, path)
        table = candidate.create(made.schema, path)
        if since is None:
            candidate.commit(table, made.files(self._days(view.at, -1)))
            return None
        others, touched = self._stitched(view, since, days, path)
        asked = made.files(listed(days), days) if days else ()
        candidate.commit(table, [*others, *asked])
        return union(touched, days)

    def _stitched(
        self, view: Sessions, since: int, days: Range, path: str
    ) -> tuple[Iterable[candidate.File], list[date]]:
        """Sessions that changed since a cut, but for those of asked days: their files, and the days that changed."""
        if self._few(view, since):
            facts = inmemory.facts(self._silver, view, since, self._until)
            rows, touched = inmemory.sessions(view, facts, DeltaTable(self._path(view)))
            if days:
                rows = rows.filter((pc.field("day") < days[0]) | (pc.field("day") > days[1]))
            return candidate.files(rows, path), touched
        gold, minis = self._gold(view), sessions.minis(view, self._fresh(since)).persist()
        try:
            touched = sorted({row[0] for row in sessions.touched_days(view, gold, minis).distinct().collect()})
            kept = gold.where(F.col("day").isin(touched))
            joined = sessions.stitched(view, kept.unionByName(minis))
            return candidate.files_of(joined.where(~F.col("day").between(*days)) if days else joined, path), touched
        finally:
            minis.unpersist()

    def _in_memory(self, view: View, since: int | None, days: Range) -> tuple[pa.Table, Days] | None:
        """The same without a plan of Spark's, where what is read is little enough."""
        if isinstance(view, PerKey):
            touched = self._touched(view, since, days)
            of_days = perkey.looked_back_on(view, touched) if touched is not None else None
            facts = inmemory.facts_of(self._silver, view, of_days, FEW_ROWS)
            return None if facts is None else (perkey.few_rows(view, facts, touched), touched)
        if not isinstance(view, Latest) or not self._few(view, since):
            return None
        facts = inmemory.facts(self._silver, view, _after(since), self._until)
        gold = None if since is None else DeltaTable(self._path(view))
        return inmemory.current(view, facts, gold), None

    def _few(self, view: Sessions | Latest, since: int | None) -> bool:
        """Whether what is read fits in the memory of one process. One fact of long ago has many sessions around it."""
        asked = "select count(*), min(happened_at) from rows where disposition = 'fact' and epoch > $since"
        came, first = arrived.came(self._silver, _after(since), asked)[0]
        if since is None or not came:
            return int(came) <= MANY_ROWS
        from_ = (first - NEAR).date() if isinstance(view, Sessions) else None
        return int(came) + size_of(self._path(view), first=from_)[0] <= MANY_ROWS

    def _fresh(self, since: int | None) -> DataFrame:
        return self.facts.where((F.col("epoch") > _after(since)) & (F.col("day") > F.expr(f"date'{self._until}'")))

    def _frame(self, view: View, since: int | None, days: Range) -> Rows:
        match view:
            case Latest():
                current = latest.current(view, self._fresh(since))
                return (current if since is None else latest.merged(view, self._gold(view).unionByName(current))), None
            case PerKey():
                touched = self._touched(view, since, days)
                return perkey.all_rows(view, self.facts, touched), touched
        raise TypeError(f"no batch plan for {view.name}")

    def _touched(self, view: PerKey, since: int | None, days: Range) -> Days:
        if since is None:
            return None
        return union(perkey.touched_days(view, self._days(view.at, since)), days)

    def _gold(self, view: View) -> DataFrame:
        return self.spark.read.format("delta").load(self._path(view))

    def _path(self, view: View) -> str:
        return self.layout.gold(self.release, view.name)


def _after(since: int | None) -> int:
    return -1 if since is None else since


def union(touched: Iterable[date], days: Range) -> list[date]:
    return sorted({*touched, *listed(days)})


def listed(days: Range) -> set[date]:
    if days is None:
        return set()
    first, final = days
    return {first + timedelta(days=number) for number in range((final - first).days + 1)}
