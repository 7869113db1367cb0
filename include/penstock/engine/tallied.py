"""Which days of which tallies a build counts anew, by what came since each was built."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import date
from functools import cache, partial

from deltalake import DeltaTable
from pyspark.sql import SparkSession

from penstock.engine import arrived, daily, versions
from penstock.engine.increment import Days, Range, union
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table, publications
from penstock.model.view import Sessions, Tally, enrichment, source_of


@dataclass(frozen=True)
class Due:
    """A tally, the cut since which facts are new to it (None: all are), and where its candidate goes."""

    tally: Tally
    since: int | None
    path: str


class Tallied:
    """The tallies of one source, at one version of silver however long they take. `until`: facts that have expired."""

    def __init__(
        self, spark: SparkSession, layout: Layout, release: str, silver: DeltaTable, until: date | None = None
    ) -> None:
        self._spark = spark
        self._layout = layout
        self._release = release
        self._silver = silver
        # Most tallies ask for the same days.
        self._days = cache(partial(arrived.days, silver, until))

    def write(self, due: Sequence[Due], days: Range) -> list[Days]:
        """Makes the candidates of tallies of one kind of rows; the days that each replaces. `days`: these as well."""
        of = due[0].tally.of
        table = self._sessions(of) if isinstance(of, Sessions) else self._silver
        touched = [self._touched(each, table, days) for each in due]
        asked = [
            daily.Asked(each.tally, self._all(each.tally, table) if some is None else some, each.path, self._said(each))
            for each, some in zip(due, touched, strict=True)
        ]
        daily.count(self._spark, versions.table(table), asked)
        return touched

    def _touched(self, due: Due, table: DeltaTable, days: Range) -> Days:
        if due.since is None:
            return None
        of = due.tally.of
        came = (
            replaced(table, source_of(of).name, due.since)
            if isinstance(of, Sessions)
            else self._days(due.tally.at, due.since)
        )
        return None if came is None else union(came, days)

    def _all(self, tally: Tally, table: DeltaTable) -> list[date]:
        """Every day that has rows."""
        if isinstance(tally.of, Sessions):
            return sorted({row[0] for row in arrived.asked(table, "select distinct day from rows")})
        return sorted(self._days(tally.at, -1))

    def _said(self, due: Due) -> versions.Table | None:
        """Of the other source as it is by now: `known` says what of it counts."""
        of = enrichment(due.tally)
        silver = open_table(self._layout.silver(self._release, of.said.source.name)) if of else None
        return versions.table(silver) if silver else None

    def _sessions(self, of: Sessions) -> DeltaTable:
        """Published sessions are exactly as new as the build's cut."""
        return DeltaTable(self._layout.gold(self._release, of.name))


def replaced(table: DeltaTable, source: str, since: int) -> Set[date] | None:
    """The days that publications after a cut have replaced; None where they were all, or nobody knows."""
    changed: set[date] = set()
    for said in publications(table):
        if said.cut.get(source, -1) <= since:
            return changed
        if said.days is None:
            return None
        changed |= {date.fromisoformat(day) for day in said.days}
    # The cut is further back than anybody looks: tallies that were refused while sessions went on.
    return None
