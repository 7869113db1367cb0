"""The batch plan: rebuilds the days that gained facts since the last cut, and publishes each view after its gate."""

from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine import candidate
from penstock.engine.increment import Increment, Range
from penstock.engine.lease import turn
from penstock.engine.publish import Gate, Overtaken, Refused, audited, published
from penstock.lake.layout import Layout
from penstock.lake.publication import Publication, cut_of, open_table
from penstock.model.source import Source
from penstock.model.view import Sessions, View, source_of


@dataclass(frozen=True)
class Built:
    """One view that a build published: how far, and which days (none: all of them)."""

    view: str
    cut: int
    days: tuple[date, ...] | None


class Batch:
    """One build of one release: silver at one version; while a view is judged the next one is computed."""

    def __init__(self, spark: SparkSession, layout: Layout, release: str, gate: Gate) -> None:
        self.spark = spark
        self.layout = layout
        self.release = release
        self.gate = gate
        # View -> why its gate stopped it. The others go on: one bad view must not make all of them old.
        self.refused: dict[str, str] = {}
        self.overtaken: list[str] = []
        # An epoch that the cut is not below, whatever facts are left.
        self.least = -1

    def build(self, views: Iterable[View], full: bool = False, days: Range = None) -> list[Built]:
        """Every view of every source that has new facts (all facts if `full`; also these days if `days`)."""
        by_source: dict[str, list[View]] = {}
        for view in views:
            by_source.setdefault(source_of(view).name, []).append(view)
        built = []
        for source, group in by_source.items():
            with self._turn(source):
                built += self._source(group, full, days)
        if self.refused:
            raise Refused("\n".join(self.refused.values()))
        if self.overtaken:
            raise Overtaken("\n".join(self.overtaken) + " Build again: what was asked may not be in what readers see.")
        return built

    def _turn(self, source: str) -> AbstractContextManager[None]:
        """Two builds of the same would do the same work; the second waits, and finds that nothing is new."""
        # On an object store only the commit itself keeps two builds apart, which is enough to be right.
        root = self.layout.root
        return nullcontext() if "://" in root else turn(Path(root, "leases"), f"build-{self.release}-{source}")

    def _source(self, views: Sequence[View], full: bool, days: Range) -> list[Built]:
        facts = self._facts(source_of(views[0]))
        cut = facts.agg(F.max("epoch")).first()[0] if facts is not None else None  # type: ignore[index]
        # Facts that were retracted leave no epoch behind, and still must go from speed.
        cut = self.least if cut is None else max(cut, self.least)
        if facts is None or cut < 0:
            return []
        increment = Increment(self.spark, self.layout, self.release, facts)
        done: dict[str, Future[Built | None]] = {}
        with ThreadPoolExecutor(1, "gate") as desk:
            # Sessions before the tallies that are made of them.
            for view in sorted(views, key=lambda view: isinstance(view.of, Sessions)):
                if isinstance(view.of, Sessions) and view.of.name in done:
                    done[view.of.name].result()
                if work := self._computed(view, increment, cut, full, days):
                    done[view.name] = desk.submit(self._judged, work)
        built = [one for each in done.values() if (one := each.result())]
        self._forget(views)
        return built

    def _facts(self, source: Source) -> DataFrame | None:
        path = self.layout.silver(self.release, source.name)
        table = open_table(path)
        if table is None:
            return None
        # One version for all views, however long they take and whatever the stream commits meanwhile.
        silver = self.spark.read.format("delta").option("versionAsOf", table.version()).load(path)
        return silver.where("disposition = 'fact'")

    def _computed(self, view: View, increment: Increment, cut: int, full: bool, days: Range) -> "Work | None":
        """Writes a view's candidate; None where there is nothing to judge."""
        # A tally of sessions that were refused would count the old ones as if they were new.
        if isinstance(view.of, Sessions) and view.of.name in self.refused:
            return None
        # What is read from here on is of this version or a newer one: only on top of it may be published.
        stands = version(self.layout.gold(self.release, view.name))
        before = self._cut(view)
        since = before if before >= 0 and not full else None
        if since == cut and days is None:
            return None
        path = candidate.fresh(self.layout, self.release, view.name)
        rows, touched = increment.rows(view, since, days)
        candidate.write(rows, path)
        increment.forget()
        return Work(view, path, touched, cut, stands)

    def _judged(self, work: "Work") -> Built | None:
        """Has the gate look at a candidate and publishes it."""
        view, days = work.view, work.days
        try:
            said = audited(self.spark, self.layout, self.release, view.name, work.path, days, self.gate)
        except Refused as refusal:
            self.refused[view.name] = str(refusal)
            return None
        listed = [str(day) for day in days or ()]
        now = datetime.now(UTC).isoformat()
        publication = Publication({source_of(view).name: work.cut}, self.release, listed, said, now)
        gold = self.layout.gold(self.release, view.name)
        try:
            published(work.path, gold, days, publication, work.stands)
        except Overtaken as overtaken:
            self.overtaken.append(str(overtaken))
            return None
        return Built(view.name, work.cut, None if days is None else tuple(days))

    def _forget(self, views: Sequence[View]) -> None:
        """Removes the speed rows that published cuts cover; readers have ignored them since."""
        for view in views:
            speed = open_table(self.layout.speed(self.release, view.name))
            # Tallies of sessions are corrected by the sessions' speed rows, until they are built as far.
            needed = [view, *(other for other in views if other.of == view)]
            cut = min(self._cut(each) for each in needed)
            if speed is not None and cut >= 0:
                speed.delete(f"epoch <= {cut}")

    def _cut(self, view: View) -> int:
        return cut_of(self.layout, self.release, view.name, source_of(view).name)


@dataclass(frozen=True)
class Work:
    """A candidate that waits for its gate, and the version of gold that it was made beside."""

    view: View
    path: str
    days: list[date] | None
    cut: int
    stands: int


def version(path: str) -> int:
    """-1 where there is no table."""
    table = open_table(path)
    return -1 if table is None else int(table.version())
