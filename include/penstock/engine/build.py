"""The batch plan: rebuilds the days that gained facts since the last cut, and publishes each view after its gate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine import latest, perkey, sessions, tallies
from penstock.engine.publish import Gate, Refused, audited, published
from penstock.lake.layout import Layout
from penstock.lake.publication import Publication, cut_of, open_table, publications
from penstock.model.source import Source
from penstock.model.view import Latest, PerKey, Sessions, Tally, View, source_of


@dataclass(frozen=True)
class Built:
    """One view that a build published: how far, and which days (none: all of them)."""

    view: str
    cut: int
    days: tuple[date, ...] | None


class Batch:
    """One build of one release: silver at one version, views one after the other."""

    def __init__(self, spark: SparkSession, layout: Layout, release: str, gate: Gate) -> None:
        self.spark = spark
        self.layout = layout
        self.release = release
        self.gate = gate
        # View -> why its gate stopped it. The others go on: one bad view must not make all of them old.
        self.refused: dict[str, str] = {}

    def build(self, views: Iterable[View], full: bool = False, days: tuple[date, date] | None = None) -> list[Built]:
        """Every view of every source that has new facts (all facts if `full`; also these days if `days`)."""
        by_source: dict[str, list[View]] = {}
        for view in views:
            by_source.setdefault(source_of(view).name, []).append(view)
        built = [one for group in by_source.values() for one in self._source(group, full, days)]
        if self.refused:
            raise Refused("\n".join(self.refused.values()))
        return built

    def _source(self, views: Sequence[View], full: bool, days: tuple[date, date] | None) -> list[Built]:
        facts = self._facts(source_of(views[0]))
        if facts is None:
            return []
        cut = facts.agg(F.max("epoch")).first()[0]  # type: ignore[index]
        if cut is None:
            return []
        # Sessions before the tallies that are made of them.
        in_order = sorted(views, key=lambda view: isinstance(view.of, Sessions))
        built = [one for view in in_order if (one := self._judged(view, facts, cut, full, days))]
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

    def _judged(
        self, view: View, facts: DataFrame, cut: int, full: bool, days: tuple[date, date] | None
    ) -> Built | None:
        # A tally of sessions that were refused would count the old ones as if they were new.
        if isinstance(view.of, Sessions) and view.of.name in self.refused:
            return None
        try:
            return self._view(view, facts, cut, full, days)
        except Refused as refusal:
            self.refused[view.name] = str(refusal)
            return None

    def _view(self, view: View, facts: DataFrame, cut: int, full: bool, days: tuple[date, date] | None) -> Built | None:
        """Builds and publishes one view; None where it has nothing new."""
        source = source_of(view).name
        before = self._cut(view)
        since = before if before >= 0 and not full else None
        if since == cut and days is None:
            return None
        rows, touched = self._rows(view, facts, since, days)
        said = audited(self.spark, self.layout, self.release, view.name, rows, touched, self.gate)
        listed = [str(day) for day in touched or ()]
        publication = Publication({source: cut}, self.release, listed, said, datetime.now(UTC).isoformat())
        published(self.spark, self.layout, self.release, view.name, touched, publication)
        return Built(view.name, cut, None if touched is None else tuple(touched))

    def _rows(
        self, view: View, facts: DataFrame, since: int | None, days: tuple[date, date] | None
    ) -> tuple[DataFrame, list[date] | None]:
        """The rows that gold gets, and the days that they replace (None: everything)."""
        fresh = facts if since is None else facts.where(F.col("epoch") > since)
        match view:
            case Tally(of=Sessions() as of):
                return self._tally_of_sessions(view, of, since, days)
            case Tally():
                if since is None:
                    return tallies.all_widths(view, facts), None
                # Silver is partitioned by the day of `happened_at`, so that most views read only the days they need.
                day = F.col("day") if view.at == "happened_at" else F.to_date(view.at)
                touched = sorted(_listed(fresh.select(day)) | _range(days))
                return tallies.all_widths(view, facts.where(day.isin(touched))), touched
            case Sessions():
                minis = sessions.minis(view, fresh)
                if since is None:
                    return minis, None
                gold = self._gold(view)
                minis = minis.persist()
                touched = sorted(_listed(sessions.touched_days(view, gold, minis)))
                kept = gold.where(F.col("day").isin(touched))
                return sessions.stitched(view, kept.unionByName(minis)), touched
            case Latest():
                current = latest.current(view, fresh)
                return (current if since is None else latest.merged(view, self._gold(view).unionByName(current))), None
            case PerKey():
                if since is None:
                    return perkey.all_rows(view, facts, None), None
                touched = sorted(perkey.touched_days(view, _listed(fresh.select(F.to_date(view.at)))) | _range(days))
                return perkey.all_rows(view, facts, touched), touched
        raise TypeError(f"no batch plan for {view.name}")

    def _tally_of_sessions(
        self, tally: Tally, of: Sessions, since: int | None, days: tuple[date, date] | None
    ) -> tuple[DataFrame, list[date] | None]:
        """Made of published sessions, which are exactly as new as the build's cut."""
        rows = sessions.shown(of, self._gold(of))
        if since is None:
            return tallies.all_widths(tally, rows), None
        changed = self._days_published_since(of, since) | _range(days)
        return tallies.all_widths(tally, rows.where(F.to_date("started").isin(list(changed)))), sorted(changed)

    def _days_published_since(self, view: Sessions, since: int) -> set[date]:
        """The days that publications of a view after a cut have replaced."""
        source = source_of(view).name
        changed: set[date] = set()
        for said in publications(DeltaTable(self.layout.gold(self.release, view.name))):
            if said.cut.get(source, -1) <= since:
                return changed
            changed |= {date.fromisoformat(day) for day in said.days}
        return changed

    def _gold(self, view: View) -> DataFrame:
        return self.spark.read.format("delta").load(self.layout.gold(self.release, view.name))

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


def _listed(days: DataFrame) -> set[date]:
    return {row[0] for row in days.distinct().collect()}


def _range(days: tuple[date, date] | None) -> set[date]:
    if days is None:
        return set()
    first, final = days
    return {first + timedelta(days=number) for number in range((final - first).days + 1)}
