"""The alarm: follows the epochs of a source's silver and tells each fact that matches an armed rule, once.

It reads what the stream has committed, so it can neither delay nor break an epoch. How far it has looked is a position
in the log, the same in every release: a switch, its revert or a rewind tells nothing again and leaves nothing out. The
positions are in the commit of the alerts themselves: what is looked at again, after a crash, adds nothing. The topic
gets a message before the table has its row: at least once, with the alert's id as its key.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import reduce
from operator import or_
from threading import Event, Thread
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, Transaction, write_deltalake

from penstock.engine.arrived import asked
from penstock.lake import alerts
from penstock.lake.alerts import SCHEMA, Tell, matches
from penstock.lake.following import Registries
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.place import rows as rows_of
from penstock.lake.publication import last_epoch, open_table
from penstock.lake.tablelog import NO_HOOKS, RETRIES
from penstock.lake.versions import Actions, later, log_folder
from penstock.model.domain import domains
from penstock.model.rule import Rule
from penstock.model.source import Source

EVERY_SECONDS, STOP_SECONDS = 0.1, 2.0
# Without matches, progress is committed this rarely; a restart looks at so many versions again at most.
QUIET_VERSIONS = 500
# A rule that is armed tells of the last epoch and of what comes, not of what was before.
HISTORY = """
select partition, max("offset") from rows where epoch < (select max(epoch) from rows) group by partition
"""
PLACED = ["partition", "offset"]
# The last offset of each partition.
Positions = Mapping[int, int]
log = logging.getLogger(__name__)


def armed(source: Source) -> list[Rule]:
    """The rules that are asked of a source's facts."""
    facts = [rule for rule in domains()[source.domain].rules if isinstance(rule, Rule)]
    return [rule for rule in facts if rule.armed and rule.about == source.name]


class Told:
    """The alerts of a source, and how far its facts were looked at, by the alarm of any release."""

    def __init__(self, layout: Layout, source: Source) -> None:
        self._table = alerts.book(layout.alerts())
        self._app = f"alarm-{source.name}"

    def positions(self) -> Positions | None:
        """As they are by now; none before the first look."""
        self._table.update_incremental()
        parts = self._table.transaction_version(self._app)
        return None if parts is None else {part: last_epoch(self._table, self._of(part)) for part in range(parts)}

    def keep(self, found: pa.Table, positions: Positions) -> None:
        """Both in one commit, which is refused when another alarm was quicker since the positions were read."""
        parts = [Transaction(self._of(part), last) for part, last in positions.items()]
        every = Transaction(self._app, max(positions, default=-1) + 1)
        once = CommitProperties(app_transactions=[every, *parts], max_commit_retries=RETRIES)
        write_deltalake(self._table, found, mode="append", commit_properties=once, post_commithook_properties=NO_HOOKS)

    def _of(self, part: int) -> str:
        return f"{self._app}/{part}"


class Alarm:
    """One source's armed rules over the silver of one release, as long as that is the current one."""

    def __init__(self, layout: Layout, source: Source, tell: Tell, release: str = FIRST_RELEASE) -> None:
        self._layout, self._source, self._tell = layout, source, tell
        self._release = release
        self._path = layout.silver(release, source.name)
        self._log = log_folder(self._path)
        self._resumed = False
        self._registries = Registries(layout)
        self._told: Told | None = None
        self._reached: Positions = {}
        self._looked = self._kept = -1

    def look(self) -> int:
        """Looks at the epochs that came since the last look. How many alerts there were."""
        rules = armed(self._source)
        if not rules or self._registries.of(self._source.domain).current != self._release:
            self._resumed = False
            return 0
        if not self._resumed:
            return self._resume(rules)
        told = 0
        for version, came in later(self._log, self._looked):
            facts = _facts(self._path, came)
            if facts is not None:
                told += self._alert(rules, facts, _ends(facts.select(PLACED).to_batches()), version)
            self._looked = version
        return told

    def _resume(self, rules: Sequence[Rule]) -> int:
        """Goes on where the source was left, whichever release was current then: its epochs are others than ours."""
        self._told = self._told or Told(self._layout, self._source)
        silver, known = open_table(self._path), self._told.positions()
        if known is None:
            # Where it begins is committed with the first look, so that a crash does not begin later.
            known = dict(asked(silver, HISTORY)) if silver else {}
            self._told.keep(SCHEMA.empty_table(), known)
        if silver is None:
            return 0
        version, facts = int(silver.version()), silver.to_pyarrow_dataset().filter(_after(known))
        self._reached, self._kept = {}, version - QUIET_VERSIONS
        told = self._alert(rules, facts, _ends(facts.to_batches(columns=PLACED)), version)
        self._resumed, self._looked = True, version
        return told

    def _alert(self, rules: Sequence[Rule], facts: Any, ends: Positions, version: int) -> int:
        assert self._told is not None
        self._reached = _furthest(self._reached, ends)
        found = matches(rules, facts)
        if not found.num_rows and version - self._kept < QUIET_VERSIONS:
            return 0
        known = self._told.positions() or {}
        new = found.filter(pa.array([_is_after(known, row) for row in found.select(PLACED).to_pylist()], pa.bool_()))
        alerts.announce(self._tell, new)
        self._told.keep(new, _furthest(known, self._reached))
        self._kept = version
        return int(new.num_rows)


def _after(known: Positions) -> pc.Expression:
    """What was not looked at, for a table that can skip files by it."""
    part, offset = map(pc.field, PLACED)
    elsewhere = ~part.isin(pa.array(known, pa.int32()))
    return reduce(or_, [(part == one) & (offset > last) for one, last in known.items()], elsewhere)


def _is_after(known: Positions, row: Mapping[str, int]) -> bool:
    return row["offset"] > known.get(row["partition"], -1)


def _ends(rows: Iterable[pa.RecordBatch]) -> Positions:
    ends: Positions = {}
    for some in rows:
        last = pa.table(some).group_by("partition").aggregate([("offset", "max")]).to_pylist()
        ends = _furthest(ends, {one["partition"]: one["offset_max"] for one in last})
    return ends


def _furthest(one: Positions, other: Positions) -> Positions:
    return {part: max(one.get(part, -1), other.get(part, -1)) for part in {*one, *other}}


def _facts(silver: str, came: Actions) -> pa.Table | None:
    """The rows that an epoch added in a version. Compactions, restatements and rewinds tell nothing new."""
    if not any("epoch" in (action.get("commitInfo") or {}).get("penstock", {}) for action in came):
        return None
    files = [action["add"] for action in came if "add" in action]
    rows = [_rows(silver, unquote(file["path"]), file["partitionValues"]["day"]) for file in files]
    return pa.concat_tables(rows, promote_options="permissive") if rows else None


def _rows(silver: str, path: str, day: str) -> pa.Table:
    found = rows_of(f"{silver}/{path}")
    return found.append_column("day", pa.array([date.fromisoformat(day)] * found.num_rows, pa.date32()))


class Alarms:
    """The alarms of some sources, in a thread of their own beside the streams."""

    def __init__(self, layout: Layout, sources: Sequence[Source], tell: Tell, release: str) -> None:
        self._alarms = [Alarm(layout, source, tell, release) for source in sources]
        self._done = Event()
        self._thread = Thread(target=self._run, name="alarms", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """What is not looked at now is looked at after the next start: nobody waits for a log that is down."""
        self._done.set()
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._done.wait(EVERY_SECONDS):
            for alarm in self._alarms:
                try:
                    alarm.look()
                except Exception:
                    # A rule that cannot be asked must not silence the others; it is tried again with the next epoch.
                    log.exception("an alarm failed")
