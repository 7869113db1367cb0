# ruff: noqa: S608 - the text holds names and conditions that a domain declares
"""Judges thresholds: asks the reader for the buckets that changed, and tells each that crosses, once.

The numbers are those of an answer, gold and speed merged at one snapshot of the current release, so an alert never
says what nobody can see. A look is bounded: what it leaves is judged by the next one, the newest bucket first.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from time import monotonic
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from penstock.lake import alerts
from penstock.lake.alerts import SCHEMA, Tell
from penstock.lake.crossings import Crossings
from penstock.lake.names import quoted
from penstock.model.bucket import Bucket
from penstock.model.domain import domains
from penstock.model.rule import Misdeclared, Threshold
from penstock.serve.question import Question
from penstock.serve.reader import ALL_ROWS, Reader
from penstock.serve.snapshot import Snapshot

# Between two looks at buckets that wait in a row. What fails is tried again more rarely: it asks the same for the same
# refusal.
SECONDS, AFTER_FAILURE = 1.0, 15.0
# How far back a late fact is told of: a day, and two buckets at least.
HORIZON, MOST_BUCKETS = timedelta(days=1), 1_440
# One question asks so many buckets in a row, and one look asks so many questions.
RUN, RUNS = 12, 4
DAY = timedelta(days=1)
CROSSED = """
select '{name}/{version}/' || strftime(_start, '%Y-%m-%dT%H:%M:%SZ') || '/' || left(sha256({keys}), 32) as id,
    '{name}' as rule, {version} as version, '{view}' as source, null as "partition", null as "offset",
    null as event_id, bucket as happened_at, ? as received_at, {shown} as fact, _start::date as day
from (select *, timezone('UTC', bucket) as _start from (select * from rows where {where}))
"""
log = logging.getLogger(__name__)


def check(rule: Threshold) -> None:
    """Refuses a condition that names what the view does not have, before there is any number to ask it of."""
    columns = ", ".join(f"null as {quoted(name)}" for name in rule.columns[1:])
    rows = f"select null::timestamptz as bucket, {columns}"
    try:
        with duckdb.connect(":memory:", config={"enable_external_access": "false"}) as engine:
            engine.execute(f"select * from ({rows}) where {rule.where}")
    except duckdb.Error as error:
        raise _wrong(rule, error) from error


def crossed(reader: Reader, rule: Threshold, question: Question, snapshot: Snapshot, now: datetime) -> pa.Table:
    """The alerts that the rows of a question are to a threshold."""
    rows = reader.rows(question, snapshot)
    if rows is None or not rows.num_rows:
        return SCHEMA.empty_table()
    named = {"name": rule.name, "version": rule.version, "view": rule.about, "where": rule.where}
    sql = CROSSED.format(keys=alerts.shown(rule.by), shown=alerts.shown(rule.shows), **named)
    try:
        # The reader's own engine: bounded in time and memory, without files and network.
        return reader.engine.table(sql, {"rows": rows}, [now]).cast(SCHEMA)
    except duckdb.Error as error:
        raise _wrong(rule, error) from error


def _wrong(rule: Threshold, error: Exception) -> Misdeclared:
    why = str(error).splitlines()[0].rstrip("!")
    return Misdeclared(
        f"{rule.name}: {rule.where!r} cannot be asked of {rule.about}: {why}. Columns: {', '.join(rule.columns)}."
    )


def tried(reader: Reader, rule: Threshold, days: int, until: date) -> list[dict[str, Any]]:
    """How many buckets of each of the last days would have fired: what one looks at before it is armed."""
    check(rule)
    standing = reader.standing
    rule = rule.over(reader.view(rule.about, standing))
    snapshot, now = reader.snapshot(rule.of, standing), datetime.now(UTC)
    parts = [crossed(reader, rule, question, snapshot, now) for question in _history(rule, days, until)]
    counted = pa.concat_tables(parts).group_by("day").aggregate([("id", "count")]).sort_by("day").to_pylist()
    return [{"rule": rule.name, "day": each["day"], "alerts": each["id_count"]} for each in counted]


def _history(rule: Threshold, days: int, until: date) -> Iterator[Question]:
    """About a day in each question, and whole buckets."""
    every = Bucket.of(rule.every)
    last = datetime.combine(until, time(), UTC) + DAY
    step = timedelta(seconds=-(-DAY // timedelta(seconds=every.seconds)) * every.seconds)
    start = every.ceiling(last - days * DAY)
    while start < last:
        yield _question(rule, start, start + step)
        start += step


def _question(rule: Threshold, start: datetime, end: datetime) -> Question:
    return Question(rule.numbers, start, end, Bucket.of(rule.every), rule.by, limit=ALL_ROWS)


class Judge:
    """One armed threshold over one lake."""

    def __init__(
        self, reader: Reader, rule: Threshold, tell: Tell, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._reader, self.rule, self._tell, self._clock = reader, rule, tell, clock
        self._every = Bucket.of(rule.every)
        self._width = timedelta(seconds=self._every.seconds)
        self._back = self._width * max(1, min(MOST_BUCKETS, HORIZON // self._width))
        self._told: Crossings | None = None
        self._since = self._first = clock()
        self._snapshot: Snapshot | None = None
        # Buckets to be judged, the longest waiting first.
        self._due: dict[datetime, None] = {}

    def changed(self) -> bool:
        """Whether there is anything to judge: what came since the last time is noted down."""
        standing, now = self._reader.standing, self._every.floor(self._clock())
        # As the current release has it; where that has no such keys or buckets, this says so.
        self.rule = self.rule.over(self._reader.view(self.rule.about, standing))
        snapshot = self._reader.snapshot(self.rule.of, standing)
        self._begin(now)
        self._first = max(self._since, now - self._back)
        if snapshot is not self._snapshot:
            self._due |= dict.fromkeys(self._touched(snapshot, now))
            self._snapshot = snapshot
        self._due = {bucket: None for bucket in self._due if bucket >= self._first}
        return self.waits()

    def waits(self) -> bool:
        """Whether buckets are left that were not judged yet."""
        return bool(self._due)

    def look(self) -> int:
        """Judges what changed, as far as one look goes. How many alerts there were."""
        return self.judge() if self.changed() else 0

    def judge(self) -> int:
        """Of the buckets that are due the newest, then the longest waiting, as far as one look goes."""
        told = self._judge(max(self._due))
        for _ in range(RUNS - 1):
            if self._due:
                told += self._judge(next(iter(self._due)))
        return told

    def _begin(self, now: datetime) -> None:
        if self._told is None:
            check(self.rule)
            told = Crossings(self._reader.layout, self.rule)
            self._since = told.since(now - self._width)
            self._told = told

    def _touched(self, snapshot: Snapshot, now: datetime) -> Iterator[datetime]:
        """The buckets that may have other numbers than when they were judged: all, after a build or a switch."""
        before = self._snapshot
        anew = before is None or (before.release, before.gold_version) != (snapshot.release, snapshot.gold_version)
        if anew:
            yield from (now - number * self._width for number in range((now - self._first) // self._width + 1))
        if snapshot.speed is not None:
            speed, judged = snapshot.speed, -1 if anew or before is None else before.epoch
            came = pc.and_(pc.greater(speed["epoch"], judged), pc.greater_equal(speed["bucket"], self._first))
            yield from {self._every.floor(moment) for moment in pc.unique(speed["bucket"].filter(came)).to_pylist()}

    def _judge(self, newest: datetime) -> int:
        """Judges a bucket, and those before it in a row that wait as well."""
        run = [newest - number * self._width for number in range(RUN)]
        run = run[: next((number for number, bucket in enumerate(run) if bucket not in self._due), RUN)]
        assert self._told is not None and self._snapshot is not None
        question = _question(self.rule, run[-1], newest + self._width)
        found = crossed(self._reader, self.rule, question, self._snapshot, self._clock())
        new = self._told.fresh(found, self._first)
        if new.num_rows:
            alerts.announce(self._tell, new)
            if not self._told.keep(new, self._since):
                return 0
        for bucket in run:
            del self._due[bucket]
        return int(new.num_rows)


class Judges:
    """All armed thresholds. One that fails silences no other, and says so among the problems of the lake."""

    def __init__(self, reader: Reader, tell: Tell) -> None:
        self._reader = reader
        self._judges = [Judge(reader, rule, tell) for rule in armed()]
        self._until = dict.fromkeys(self._judges, 0.0)

    def look(self) -> None:
        for judge, until in self._until.items():
            if monotonic() >= until:
                self._until[judge] = monotonic() + self._looked(judge)

    def _looked(self, judge: Judge) -> float:
        """For how many seconds it rests."""
        name = judge.rule.name
        try:
            judge.look()
            self._reader.problems.pop(name, None)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            if self._reader.problems.get(name) != problem:
                log.exception("the threshold %s cannot be judged", name)
            self._reader.problems[name] = problem
            return AFTER_FAILURE
        # What an epoch changed is judged at once; what one look left gives way to answers.
        return SECONDS if judge.waits() else 0.0


def armed() -> Sequence[Threshold]:
    rules = (rule for domain in domains().values() for rule in domain.rules)
    return [rule for rule in rules if isinstance(rule, Threshold) and rule.armed]
