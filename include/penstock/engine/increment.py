"""What a build makes of the facts that came since a view's last cut: rows for gold, and the days that they replace."""

from datetime import date, timedelta
from functools import cache, partial
from threading import local

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine import arrived, latest, perkey, sessions, tallies
from penstock.lake.layout import Layout
from penstock.lake.publication import publications
from penstock.model.bucket import widths
from penstock.model.view import Latest, PerKey, Sessions, Tally, View, source_of

Range = tuple[date, date] | None
# Rows, and the days that they replace; None: all of them.
Rows = tuple[DataFrame, list[date] | None]


class Increment:
    """One source's facts at one version of silver, for views that are built beside each other."""

    def __init__(self, spark: SparkSession, layout: Layout, release: str, source: str, silver: DeltaTable) -> None:
        self.spark = spark
        self.layout = layout
        self.release = release
        path = layout.silver(release, source)
        # One version for all views, however long they take and whatever the stream commits meanwhile.
        rows = spark.read.format("delta").option("versionAsOf", silver.version()).load(path)
        self.facts = rows.where("disposition = 'fact'")
        # Most views ask for the same days.
        self._days = cache(partial(arrived.days, silver))
        self._held = local()

    def forget(self) -> None:
        """Gives back the memory of what this thread read more than once."""
        while held := getattr(self._held, "rows", []):
            held.pop().unpersist()

    def rows(self, view: View, since: int | None, days: Range) -> Rows:
        """Since which cut; None: of all facts. `days`: these as well."""
        fresh = self.facts if since is None else self.facts.where(F.col("epoch") > since)
        match view:
            case Tally(of=Sessions() as of):
                return self._tally_of_sessions(view, of, since, days)
            case Tally():
                return self._tally(view, since, days)
            case Sessions():
                return self._sessions(view, fresh, since)
            case Latest():
                current = latest.current(view, fresh)
                return (current if since is None else latest.merged(view, self._gold(view).unionByName(current))), None
            case PerKey():
                if since is None:
                    return perkey.all_rows(view, self.facts, None), None
                touched = sorted(perkey.touched_days(view, self._days(view.at, since)) | _range(days))
                return perkey.all_rows(view, self.facts, touched), touched
        raise TypeError(f"no batch plan for {view.name}")

    def _tally(self, view: Tally, since: int | None, days: Range) -> Rows:
        if since is None:
            return _widths(view, self.facts), None
        # Silver is partitioned by the day of `happened_at`, so that most views read only the days they need.
        day = F.col("day") if view.at == "happened_at" else F.to_date(view.at)
        touched = sorted(self._days(view.at, since) | _range(days))
        return _widths(view, self.facts.where(day.isin(touched))), touched

    def _sessions(self, view: Sessions, fresh: DataFrame, since: int | None) -> Rows:
        minis = sessions.minis(view, fresh)
        if since is None:
            return minis, None
        gold, minis = self._gold(view), self._hold(minis)
        touched = sorted(_listed(sessions.touched_days(view, gold, minis)))
        kept = gold.where(F.col("day").isin(touched))
        return sessions.stitched(view, kept.unionByName(minis)), touched

    def _tally_of_sessions(self, tally: Tally, of: Sessions, since: int | None, days: Range) -> Rows:
        """Made of published sessions, which are exactly as new as the build's cut."""
        rows = sessions.shown(of, self._gold(of))
        if since is None:
            return _widths(tally, rows), None
        changed = self._days_published_since(of, since) | _range(days)
        return _widths(tally, rows.where(F.to_date("started").isin(list(changed)))), sorted(changed)

    def _days_published_since(self, view: Sessions, since: int) -> set[date]:
        """The days that publications of a view after a cut have replaced."""
        source = source_of(view).name
        changed: set[date] = set()
        for said in publications(DeltaTable(self.layout.gold(self.release, view.name))):
            if said.cut.get(source, -1) <= since:
                return changed
            changed |= {date.fromisoformat(day) for day in said.days}
        return changed

    def _hold(self, rows: DataFrame) -> DataFrame:
        held = rows.persist()
        self._held.rows = [*getattr(self._held, "rows", []), held]
        return held

    def _gold(self, view: View) -> DataFrame:
        return self.spark.read.format("delta").load(self.layout.gold(self.release, view.name))


def _widths(tally: Tally, facts: DataFrame) -> DataFrame:
    return tallies.partials(tally, facts, widths(tally.every))


def _listed(days: DataFrame) -> set[date]:
    return {row[0] for row in days.distinct().collect()}


def _range(days: Range) -> set[date]:
    if days is None:
        return set()
    first, final = days
    return {first + timedelta(days=number) for number in range((final - first).days + 1)}
