"""The alarm: follows the epochs of a source's silver and tells each fact that matches an armed rule, once.

It reads what the stream has committed, so it can neither delay nor break an epoch. Which versions it has looked at is
in the alerts table's own transactions: a version that is looked at again, after a crash, adds nothing. The topic gets a
message before the table has its row: at least once, with the alert's id as its key.
"""

import json
import logging
from collections.abc import Callable, Sequence
from datetime import date
from threading import Event, Thread
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from penstock.engine.commit import Tables
from penstock.lake.alerts import INDEXED, SCHEMA, matches
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.place import place
from penstock.lake.place import rows as rows_of
from penstock.lake.publication import last_epoch, open_table
from penstock.lake.releases import current
from penstock.model.domain import domains
from penstock.model.rule import Rule
from penstock.model.source import Source

EVERY_SECONDS, STOP_SECONDS = 0.1, 2.0
# Without matches, progress is committed this rarely; a restart looks at so many versions again at most.
QUIET_VERSIONS = 500
Tell = Callable[[Sequence[dict[str, Any]]], None]
log = logging.getLogger(__name__)


class Alarm:
    """One source's armed rules over the silver of one release, as long as that is the current one."""

    def __init__(self, layout: Layout, source: Source, tell: Tell, release: str = FIRST_RELEASE) -> None:
        self._layout, self._source, self._tell = layout, source, tell
        self._release = release
        self._silver: DeltaTable | None = None
        self._looked = self._kept = -1
        self._from_the_first = False
        self._tables = Tables()

    @property
    def rules(self) -> list[Rule]:
        every = domains()[self._source.domain].rules
        return [rule for rule in every if rule.armed and rule.of.source.name == self._source.name]

    def look(self) -> int:
        """Looks at the epochs that came since the last look. How many alerts there were."""
        rules = self.rules
        if not rules or not self._opened():
            return 0
        assert self._silver is not None
        self._silver.update_incremental()
        told = 0
        for version in range(self._looked + 1, int(self._silver.version()) + 1):
            told += self._alert(rules, version)
            self._looked = version
        return told

    def _opened(self) -> bool:
        """Opens silver where it was left; the first time, at what comes from now on."""
        if current(self._layout, self._source.domain) != self._release:
            self._silver = None
        elif self._silver is None:
            self._silver = open_table(self._layout.silver(self._release, self._source.name))
            if self._silver is None:
                self._from_the_first = True
            else:
                self._resume(self._silver)
        return self._silver is not None

    def _resume(self, silver: DeltaTable) -> None:
        seen = last_epoch(open_table(self._layout.alerts()), self._app)
        begin = -1 if self._from_the_first else int(silver.version()) - 1
        self._looked = seen if seen >= 0 else begin
        # Where it began is committed with the first look, so that a crash does not begin later.
        self._kept = seen if seen >= 0 else begin - QUIET_VERSIONS

    @property
    def _app(self) -> str:
        return f"alarm-{self._source.name}-{self._release}"

    def _alert(self, rules: Sequence[Rule], version: int) -> int:
        facts = _facts(self._layout.silver(self._release, self._source.name), version)
        found = SCHEMA.empty_table() if facts is None else matches(rules, facts)
        if found.num_rows:
            self._tell(found.drop_columns(["day"]).to_pylist())
        if found.num_rows or version - self._kept >= QUIET_VERSIONS:
            self._tables.of(self._layout.alerts(), SCHEMA, INDEXED).append(found, self._app, version)
            self._kept = version
        return int(found.num_rows)


def _facts(silver: str, version: int) -> pa.Table | None:
    """The rows that an epoch added at a version. Compactions, restatements and rewinds tell nothing new."""
    actions = [json.loads(line) for line in place(silver).read(f"_delta_log/{version:020}.json").splitlines()]
    if not any("epoch" in (action.get("commitInfo") or {}).get("penstock", {}) for action in actions):
        return None
    files = [action["add"] for action in actions if "add" in action]
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
