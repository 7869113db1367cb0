"""The batch plan: rebuilds the days that gained facts since the last cut, and publishes each view after its gate."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import chain
from threading import Lock

from pyspark.sql import SparkSession

from penstock.engine import arrived, candidate, rollups
from penstock.engine.increment import Days, Increment, Range
from penstock.engine.lease import builds
from penstock.engine.publish import Gate, Overtaken, Refused, audited, published
from penstock.engine.tallied import Due, Tallied
from penstock.lake.layout import Layout
from penstock.lake.profiles import lacking, profiles_of
from penstock.lake.publication import Publication, cut_of, open_table
from penstock.lake.retention import kept_until
from penstock.model.view import Sessions, Tally, View, enrichment, source_of

# While Spark plans one group of views, which takes one thread, the tasks of another have the other core.
AT_ONCE = 2
# Whoever is overtaken has slept, or passed a sleeper by: hardly ever twice in a row.
TRIES = 3
# Views that are computed together.
Group = list[View]


@dataclass(frozen=True)
class Built:
    """One view that a build published: how far, and which days (none: all of them)."""

    view: str
    cut: int
    days: tuple[date, ...] | None


class Batch:
    """One build of one release: silver at one version, a few views at once."""

    def __init__(self, spark: SparkSession, layout: Layout, release: str, gate: Gate) -> None:
        self.spark = spark
        self.layout = layout
        self.release = release
        self.gate = gate
        # View -> why its gate stopped it. The others go on: one bad view must not make all of them old.
        self.refused: dict[str, str] = {}
        # View -> which other build published it meanwhile.
        self.overtaken: dict[str, str] = {}
        # An epoch that the cut is not below, whatever facts are left.
        self.least = -1
        # When it began, as whoever started it says (lake/asked.py).
        self.begun_at = ""
        self._desk = Lock()

    def build(self, views: Iterable[View], full: bool = False, days: Range = None) -> list[Built]:
        """Every view of every source that has new facts (all facts if `full`; also these days if `days`)."""
        left, built = list(views), list[Built]()
        for _ in range(TRIES):
            self.overtaken = {}
            built += self._once(left, full, days)
            left = [view for view in left if view.name in self.overtaken]
        if self.refused:
            raise Refused("\n".join(self.refused.values()))
        if self.overtaken:
            told = "\n".join(self.overtaken.values())
            raise Overtaken(f"{told} Build again: what was asked may not be in what readers see.")
        return built

    def _once(self, views: Sequence[View], full: bool, days: Range) -> list[Built]:
        by_source: dict[str, list[View]] = {}
        for view in views:
            by_source.setdefault(source_of(view).name, []).append(view)
        built = []
        for source, group in by_source.items():
            with builds(self.layout.root, self.release, source):
                built += self._source(group, full, days)
        return built

    def _source(self, views: Sequence[View], full: bool, days: Range) -> list[Built]:
        source = source_of(views[0]).name
        # Before silver is read: who publishes on top of one of these has read as much of silver, or more.
        stands = {view.name: version(self.layout.gold(self.release, view.name)) for view in views}
        silver = open_table(self.layout.silver(self.release, source))
        # Facts that were retracted leave no epoch behind, and still must go from speed.
        cut = -1 if silver is None else max(arrived.last_epoch(silver), self.least)
        if silver is None or cut < 0:
            return []
        # Their facts have expired: none of their days is replaced as a whole.
        until = kept_until(self.layout, self.release, source)
        if until:
            asked = rollups.left(until, full, days, self._tables(views))
            full, days = False, asked
        increment = Increment(self.spark, self.layout, self.release, silver, until)
        tallied = Tallied(self.spark, self.layout, self.release, silver, until)

        def computed(group: Group) -> list[Built]:
            begun = [work for view in group if (work := self._begun(view, stands, cut, full, days, until))]
            due = [Due(work.view, work.since, work.path) for work in begun if isinstance(work.view, Tally)]
            written: list[Days] = []
            with self._unless_cleared(begun):
                if due:
                    written = tallied.write(due, days)
                else:
                    written = [increment.write(work.view, work.since, days, work.path) for work in begun]
            # Gates write what they said into one table, and take a moment each.
            with self._desk:
                # What another build has cleared is written by nobody.
                judged = [self._judged(work, of) for work, of in zip(begun, written, strict=False)]
            return [built for built in judged if built]

        def in_turn(waiting: Iterable[Group]) -> list[Built]:
            return [*chain(*map(computed, waiting))]

        with ThreadPoolExecutor(AT_ONCE, "views") as desks:
            built = [*chain(*desks.map(in_turn, turns(views)))]
        self._forget(views)
        return built

    def _begun(
        self, view: View, stands: Mapping[str, int], cut: int, full: bool, days: Range, until: date | None
    ) -> "Work | None":
        """What is to be done for a view; None where nothing is. `until`: the days whose rows are kept as they are."""
        # A tally of sessions that were refused would count the old ones as if they were new.
        if isinstance(view.of, Sessions) and view.of.name in self.refused:
            return None
        if isinstance(view.of, Sessions) and (why := self.overtaken.get(view.of.name)):
            self.overtaken[view.name] = why
            return None
        before = self._cut(view)
        since = before if before >= 0 and not full else None
        if since == cut and days is None:
            return None
        if why := rollups.lacking(view.name, until) if until and since is None else self._short(view, since):
            self.refused[view.name] = why
            return None
        return Work(view, since, cut, candidate.fresh(self.layout, self.release, view.name), stands[view.name])

    def _short(self, view: View, since: int | None) -> str:
        """Why a view cannot be built: silver lacks what facts were joined with when they came. Empty: it can."""
        silver = open_table(self.layout.silver(self.release, source_of(view).name))
        of = enrichment(view)
        if of is None or silver is None:
            return ""
        name = of.said.source.name
        lost = lacking(silver, name, profiles_of(self.layout, self.release, [view])[name].ends(), since)
        if not lost:
            return ""
        return (
            f"{view.name} was not built: {lost:,} records of {name} that its facts were joined with are not in silver. "
            "Readers keep the last good numbers. Build it again when the stream or the replay of that source has them."
        )

    @contextmanager
    def _unless_cleared(self, works: Iterable["Work"]) -> Iterator[None]:
        """What fails because another build, which passed this one by, has cleared a candidate is tried again."""
        try:
            yield
        except Exception:
            if not any(candidate.cleared(work.path) for work in works):
                raise
            told = "was cleared by another build; nothing was changed."
            self.overtaken |= {work.view.name: f"{work.path} {told}" for work in works}

    def _judged(self, work: "Work", days: Days) -> Built | None:
        with self._unless_cleared([work]):
            return self._published(work, days)
        return None

    def _published(self, work: "Work", days: Days) -> Built | None:
        """Has the gate look at a candidate and publishes it. `days`: those that it replaces."""
        view = work.view
        try:
            said = audited(self.spark, self.layout, self.release, view.name, work.path, days, self.gate)
        except Refused as refusal:
            self.refused[view.name] = str(refusal)
            return None
        listed = None if days is None else [str(day) for day in days]
        now = datetime.now(UTC).isoformat()
        publication = Publication({source_of(view).name: work.cut}, self.release, listed, said, now, self.begun_at)
        gold = self.layout.gold(self.release, view.name)
        try:
            published(work.path, gold, days, publication, work.stands)
        except Overtaken as overtaken:
            self.overtaken[view.name] = str(overtaken)
            return None
        return Built(view.name, work.cut, None if days is None else tuple(days))

    def _tables(self, views: Sequence[View]) -> list[str]:
        """Silver, and what readers see of its views."""
        silver = self.layout.silver(self.release, source_of(views[0]).name)
        return [silver, *(self.layout.gold(self.release, view.name) for view in views)]

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
    """A view that is built: from the facts since a cut (None: from all) up to another, into a candidate at a path.

    `stands`: the version of gold on top of which alone it may be published: what it is made of is no older."""

    view: View
    since: int | None
    cut: int
    path: str
    stands: int


def turns(views: Sequence[View]) -> list[list[Group]]:
    """Groups that wait for each other, beside those that do not.

    Tallies of sessions are made of sessions that are published; the gates of other views they need not wait for."""
    of_facts: Group = []
    by_sessions: dict[str, list[Group]] = {}
    alone: list[list[Group]] = []
    for view in views:
        match view:
            case Sessions():
                by_sessions.setdefault(view.name, [[], []])[0].append(view)
            case Tally(of=Sessions() as of):
                by_sessions.setdefault(of.name, [[], []])[1].append(view)
            case Tally():
                of_facts.append(view)
            case _:
                alone.append([[view]])
    return [[of_facts], *by_sessions.values(), *alone]


def version(path: str) -> int:
    """-1 where there is no table."""
    table = open_table(path)
    return -1 if table is None else int(table.version())
