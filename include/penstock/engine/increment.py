"""What a build makes, by key, of the facts that came since a view's last cut: rows for gold, and the days they replace.

Tallies, which need no other day's facts, are in engine/tallied.py."""

from datetime import date, timedelta
from functools import cache, cached_property, partial
from threading import local

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine import arrived, latest, perkey, sessions
from penstock.lake.layout import Layout
from penstock.model.view import Latest, PerKey, Sessions, View

Range = tuple[date, date] | None
# The days that rows replace; None: all of them.
Days = list[date] | None
Rows = tuple[DataFrame, Days]


class Increment:
    """One source's facts at one version of silver, for views by key that are built beside each other."""

    def __init__(self, spark: SparkSession, layout: Layout, release: str, source: str, silver: DeltaTable) -> None:
        self.spark = spark
        self.layout = layout
        self.release = release
        # One version for all views, however long they take and whatever the stream commits meanwhile.
        self._silver = layout.silver(release, source), silver.version()
        # Most views ask for the same days.
        self._days = cache(partial(arrived.days, silver))
        self._held = local()

    @cached_property
    def facts(self) -> DataFrame:
        path, version = self._silver
        return self.spark.read.format("delta").option("versionAsOf", version).load(path).where("disposition = 'fact'")

    def forget(self) -> None:
        """Gives back the memory of what this thread read more than once."""
        while held := getattr(self._held, "rows", []):
            held.pop().unpersist()

    def rows(self, view: View, since: int | None, days: Range) -> Rows:
        """Since which cut; None: of all facts. `days`: these as well."""
        fresh = self.facts if since is None else self.facts.where(F.col("epoch") > since)
        match view:
            case Sessions():
                return self._sessions(view, fresh, since)
            case Latest():
                current = latest.current(view, fresh)
                return (current if since is None else latest.merged(view, self._gold(view).unionByName(current))), None
            case PerKey():
                if since is None:
                    return perkey.all_rows(view, self.facts, None), None
                touched = sorted(perkey.touched_days(view, self._days(view.at, since)) | listed(days))
                return perkey.all_rows(view, self.facts, touched), touched
        raise TypeError(f"no batch plan for {view.name}")

    def _sessions(self, view: Sessions, fresh: DataFrame, since: int | None) -> Rows:
        minis = sessions.minis(view, fresh)
        if since is None:
            return minis, None
        gold, minis = self._gold(view), self._hold(minis)
        touched = sorted({row[0] for row in sessions.touched_days(view, gold, minis).distinct().collect()})
        kept = gold.where(F.col("day").isin(touched))
        return sessions.stitched(view, kept.unionByName(minis)), touched

    def _hold(self, rows: DataFrame) -> DataFrame:
        held = rows.persist()
        self._held.rows = [*getattr(self._held, "rows", []), held]
        return held

    def _gold(self, view: View) -> DataFrame:
        return self.spark.read.format("delta").load(self.layout.gold(self.release, view.name))


def listed(days: Range) -> set[date]:
    if days is None:
        return set()
    first, final = days
    return {first + timedelta(days=number) for number in range((final - first).days + 1)}
