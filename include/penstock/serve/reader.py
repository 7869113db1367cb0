"""Answers questions: gold up to the cut and the open partials after it, at versions pinned once for each question."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa

from penstock.lake.layout import Layout
from penstock.model.bucket import Bucket
from penstock.model.domain import domains
from penstock.model.view import Latest, Sessions, Tally, View
from penstock.serve.books import Books
from penstock.serve.corrected import Correction
from penstock.serve.engine import Engine, Stop
from penstock.serve.files import Files, Held
from penstock.serve.problems import Problem, too_large, unknown
from penstock.serve.question import EARLIEST, LATEST, Question
from penstock.serve.rows_sql import rows_sql
from penstock.serve.snapshot import Snapshot, ViewTables
from penstock.serve.standing import Standing, Standings
from penstock.serve.tally_sql import kept_sql, segments, tally_sql

LARGEST_GROUPS = 100_000
# Folded gold of some hundred questions; one by many keys takes more than all others.
KEPT_BYTES = 256 * 1024 * 1024
ALL_ROWS = 10_000_000
HIDDEN = ("_groups", "_all_facts", "_all_provisional")


@dataclass(frozen=True)
class Answer:
    """Rows, and what they were made of."""

    rows: pa.Table
    snapshot: Snapshot
    facts: int
    provisional: int
    question: Question


class Reader:
    """Follows every view of every domain in one lake: in the current releases, or in `fixed` ones (domain: release)."""

    def __init__(
        self,
        layout: Layout,
        engine: Engine | None = None,
        home: Path | None = None,
        fixed: Mapping[str, str] | None = None,
    ) -> None:
        self.layout = layout
        self.problems: dict[str, str] = {}
        self.refreshed_at = datetime.now(UTC)
        self.engine = engine or Engine()
        self.books = Books(layout)
        self._files = Files()
        self._kept = Held(KEPT_BYTES)
        self._correction = Correction(self.engine, self._files)
        self._tables: dict[tuple[str, str], ViewTables] = {}
        self._standings = Standings(layout, home, fixed)
        self.standing = Standing({}, {view.name: view for domain in domains().values() for view in domain.views})
        self._lock = Lock()

    def views(self) -> Mapping[str, View]:
        return self.standing.views

    def view(self, name: str, standing: Standing | None = None) -> View:
        views = (standing or self.standing).views
        if name not in views:
            raise unknown("view", name, tuple(views))
        return views[name]

    def refresh(self) -> set[str]:
        """Follows the tables. The names of the views that changed; one that cannot be read keeps what it had."""
        standing = self._standing_now()
        changed = set()
        for view in standing.views.values():
            try:
                if self._of(view, standing).refresh():
                    changed.add(view.name)
                self.problems.pop(view.name, None)
            except Exception as error:
                self.problems[view.name] = f"{type(error).__name__}: {error}"
        # Only now, when the tables of a release that became current have been read.
        changed |= standing.moved(self.standing)
        self.standing = standing
        self.refreshed_at = datetime.now(UTC)
        derived = {name for name, view in self.views().items() if isinstance(view.of, Sessions)}
        return changed | {name for name in derived if self.views()[name].of.name in changed}  # type: ignore[union-attr]

    def _standing_now(self) -> Standing:
        """What stands now; where its code cannot be loaded, what stood before."""
        try:
            standing = self._standings.now()
            self.problems.pop("releases", None)
        except Exception as error:
            self.problems["releases"] = f"{type(error).__name__}: {error}"
            return self.standing
        return standing

    def snapshot(self, view: View, standing: Standing | None = None) -> Snapshot:
        """The view's pinned state. Raises where it has never been readable."""
        standing = standing or self.standing
        snapshot = self._of(view, standing).snapshot
        if view.name in self.problems and snapshot.gold_version < 0 and snapshot.speed_version < 0:
            raise Problem(503, "The view cannot be read", f"{view.name}: {self.problems[view.name]}")
        if isinstance(view, Tally) and isinstance(view.of, Sessions):
            return self._correction.tally(view, snapshot, self.snapshot(view.of, standing))
        return snapshot

    def answer(self, question: Question, snapshot: Snapshot | None = None, stop: Stop | None = None) -> Answer:
        """Rows at one snapshot: the newest, unless one was pinned before."""
        snapshot = snapshot or self.snapshot(question.view)
        relations = self._relations(question, snapshot, stop)
        if not relations:
            return Answer(pa.table({}), snapshot, 0, 0, question)
        sql, parameters = _sql(question, tuple(relations))
        return _answer(self.engine.table(sql, relations, parameters, stop), snapshot, question)

    def table(self, view: View) -> pa.Table | None:
        """All of a view as people see it: a tally in its own buckets and by all of its keys."""
        every, by = (Bucket.of(view.every), view.by) if isinstance(view, Tally) else (None, ())
        return self.rows(Question(view, EARLIEST, LATEST, every, by, limit=ALL_ROWS))

    def rows(self, question: Question, snapshot: Snapshot | None = None) -> pa.Table | None:
        """All rows of a question, however many; nothing where the view has none."""
        snapshot = snapshot or self.snapshot(question.view)
        relations = self._relations(question, snapshot)
        if not relations:
            return None
        sql, parameters = _sql(question, tuple(relations))
        rows = self.engine.table(sql, relations, parameters)
        return rows.drop_columns(list(HIDDEN))

    def _relations(self, question: Question, snapshot: Snapshot, stop: Stop | None = None) -> dict[str, pa.Table]:
        """What a question is asked of: gold's rows that may matter, and what came after the cut."""
        first, final = question.reads_from.date(), question.end.date()
        match question.view:
            case Tally() as tally:
                kept = self._kept_of(question, tally, snapshot, stop)
                return _there(kept=kept if kept.num_rows else None, open=snapshot.open)
            case Sessions():
                gold = snapshot.within(self._files, first, final)
                return _there(gold=gold, stitched=self._correction.stitched(snapshot))
            case Latest():
                return _there(gold=snapshot.everything(self._files), open=snapshot.open)
        return _there(gold=snapshot.within(self._files, first, final), open=snapshot.open)

    def _kept_of(self, question: Question, tally: Tally, snapshot: Snapshot, stop: Stop | None) -> pa.Table:
        """What gold has for a question; made once for all who ask it until gold changes."""
        wanted = tuple(segments(question, tally))
        asked = question.every, question.zone, question.by, question.where, wanted
        name = tally.name, snapshot.release, snapshot.gold_version, snapshot.replaced, asked

        def made() -> pa.Table:
            gold = snapshot.chosen(self._files, wanted)
            if gold is None:
                return pa.table({})
            sql, parameters = kept_sql(question, tally)
            return self.engine.table(sql, {"gold": gold}, parameters, stop)

        return self._kept.get(name, made)

    def release(self, domain: str) -> str:
        return self.standing.release(domain)

    def _of(self, view: View, standing: Standing) -> ViewTables:
        release = standing.release(view.name.partition(".")[0])
        with self._lock:
            key = release, view.name
            if key not in self._tables:
                self._tables[key] = ViewTables(self.layout, release, view, self._files, self.engine)
            return self._tables[key]


def _sql(question: Question, relations: tuple[str, ...]) -> tuple[str, list[Any]]:
    view = question.view
    return tally_sql(question, view, relations) if isinstance(view, Tally) else rows_sql(question, relations)


def _there(**relations: pa.Table | None) -> dict[str, pa.Table]:
    return {name: rows for name, rows in relations.items() if rows is not None}


def _answer(rows: pa.Table, snapshot: Snapshot, question: Question) -> Answer:
    groups, facts, provisional = (int(rows[name][0].as_py() or 0) if rows.num_rows else 0 for name in HIDDEN)
    if groups > LARGEST_GROUPS:
        raise too_large(
            f"{groups} groups; at most {LARGEST_GROUPS}. Ask by fewer keys, a wider bucket or with a filter"
        )
    shown = [name for name in rows.column_names if not name.startswith("_")]
    return Answer(rows.select(shown), snapshot, facts, provisional, question)
