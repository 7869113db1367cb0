# ruff: noqa: S608 - conditions of views
"""Two releases of a domain compared: what a person approves a switch by, and a machine inside a limit."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from penstock.lake.layout import Layout
from penstock.lake.releases import registry
from penstock.model.view import Sessions, View, source_of
from penstock.serve.compare.changes import Change, changed, rows_of, used
from penstock.serve.compare.moves import Cause, Moves, Silver
from penstock.serve.engine import Engine
from penstock.serve.reader import Reader

MEMORY = "1GB"
# Nobody waits at a screen for all rows of a view.
SECONDS = 120.0


@dataclass(frozen=True)
class Comparison:
    """`moving`: days of which one release has facts that the other has not yet; they are left out of the views."""

    domain: str
    before: str
    after: str
    sources: tuple[Moves, ...]
    views: tuple[Change, ...]
    moving: tuple[date, ...]
    seconds: float

    @property
    def same(self) -> bool:
        return not any(source.moved for source in self.sources) and all(view.same for view in self.views)

    def share(self) -> float:
        """The largest change of any measure of any view, or of any source's dispositions, as a share."""
        moved = [source.moved / source.compared for source in self.sources if source.compared]
        return max([*moved, *(view.share for view in self.views)], default=0.0)

    def within(self, percent: float) -> bool:
        """Whether nobody need look: nothing was compared with nothing, no view is another one, little changed."""
        compared = any(source.compared for source in self.sources)
        return compared and not any(view.note for view in self.views) and self.share() * 100 <= percent

    def as_dict(self) -> dict[str, Any]:
        return {
            "domain": self.domain,
            "before": self.before,
            "after": self.after,
            "same": self.same,
            "change_percent": round(self.share() * 100, 4),
            "sources": [source.as_dict() for source in self.sources],
            "views": [view.as_dict() for view in self.views],
            "moving_days": [str(day) for day in self.moving],
            "seconds": round(self.seconds, 2),
        }


def compare(layout: Layout, home: Path, domain: str, before: str, after: str) -> Comparison:
    """Silver of both at the positions that both have, then every view that both have."""
    begun = time.perf_counter()
    now = registry(layout, domain)
    releases = [now.get(release).about for release in (before, after)]
    with ExitStack() as opened:
        readers = [opened.enter_context(_reader(layout, home, domain, release)) for release in releases]
        old, new = (
            {name: view for name, view in each.views().items() if name.startswith(f"{domain}.")} for each in readers
        )
        names = sorted({source_of(view).name for view in (*old.values(), *new.values())})
        spilled = opened.enter_context(_spilled(home / "tmp"))
        engine = opened.enter_context(duckdb.connect(config={"memory_limit": MEMORY, "temp_directory": spilled}))
        moves, moving, changes = [], set[date](), list(_only_in_one(old, new))
        for name in names:
            silver = Silver(engine, layout, name, before, after)
            moves.append(silver.moves())
            days = silver.moving_days()
            moving |= days
            for view in [view for view in new.values() if view.name in old and source_of(view).name == name]:
                rows = [rows_of(reader, each[view.name]) for reader, each in zip(readers, (old, new), strict=True)]
                change = changed(engine, old[view.name], view, rows[0], rows[1], days)
                causes = () if change.same else _causes(silver, old[view.name], view)
                changes.append(replace(change, causes=causes))
    seconds = time.perf_counter() - begun
    in_order = tuple(sorted(changes, key=lambda change: change.view))
    return Comparison(domain, before, after, tuple(moves), in_order, tuple(sorted(moving)), seconds)


@contextmanager
def _spilled(within: Path) -> Iterator[str]:
    """A folder for what does not fit into memory, of one comparison: DuckDB names its files alike in each."""
    within.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="compare-", dir=within) as folder:
        yield folder


@contextmanager
def _reader(layout: Layout, home: Path, domain: str, release: str) -> Iterator[Reader]:
    with closing(Engine(SECONDS, MEMORY)) as engine:
        reader = Reader(layout, engine, home, {domain: release})
        reader.refresh()
        yield reader


def _only_in_one(old: dict[str, View], new: dict[str, View]) -> Iterator[Change]:
    for name in {*old} ^ {*new}:
        yield Change(
            name, note="only the old release has this view" if name in old else "only the new release has this view"
        )


def _causes(silver: Silver, old: View, new: View) -> tuple[Cause, ...]:
    """Of the records that moved: those that the view counts in either release, by what moved them."""
    if not silver.there:
        return ()
    counted = " or ".join(
        f"({side}.disposition = 'fact' and {_of_row(_where(view), side, silver.both)})"
        for side, view in (("row_before", old), ("row_after", new))
    )
    columns = used(old) | used(new)
    # Fields that the view does not use explain nothing in it.
    listed = ", ".join(f"'{name}'" for name in sorted(columns))
    uses = "true" if "*" in columns else f"(cause not like 'field %' or list_has_any(differs, [{listed}]))"
    return silver.causes(f"coalesce({counted}, false) and {uses}")


def _where(view: View) -> str:
    return view.of.of.where if isinstance(view.of, Sessions) else view.of.where


def _of_row(where: str, side: str, columns: list[str]) -> str:
    """A condition on a fact's columns, asked of the row of one release."""
    named = ", ".join(f'{side}."{name}" as "{name}"' for name in columns)
    return f"(select {where} from (select {named}))"
