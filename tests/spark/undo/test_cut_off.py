"""An operation that is cut off before and after each of its commits, and asked for again each time, is done once.

What lies on the disk after a cut is what kill -9 leaves: whoever goes on knows nothing of the one before. A replay, a
rewind and an erasure have tests of their own.
"""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from faults.points import Point
from pyspark.sql import SparkSession
from toy_lake import Passed
from toy_log import ToyLog, said

from penstock.engine import build, dropping, mending, repair, retraction, stating
from penstock.engine.build import Batch
from penstock.engine.commit import Appender
from penstock.engine.posting import post
from penstock.lake import audit, releases, session
from penstock.lake.audit import Entry, entries
from penstock.lake.layout import Layout
from penstock.lake.ledger import booked
from penstock.lake.place import Place
from penstock.lake.publication import open_table
from penstock.lake.releases import PREVIOUS, READY, Release, registry, say, switch
from penstock.lake.statements import Statements
from penstock.lake.switching import switched
from penstock.log.schemas import Schemas
from penstock.model.domain import Domain
from penstock.serve.reader import Reader
from penstock.settings import Settings

FULL = bool(os.environ.get("PENSTOCK_FULL"))
# A minute each on a busy machine, with the same commits as the others.
LONG = ("repair", "rebuild")
JOBS = Path(__file__).parents[3] / "spark_jobs"
SOURCE, SILVER = "toy.events", "silver/r1/toy.events"
# One by day and one as a whole: each of the ways in which an operation builds views.
VIEWS = ("toy.events_by_what", "toy.now")
TOLD = [
    [said("ann", "buy", 5, id="a"), {"value": b'{"whom": "bob", "amount": 3}', "id": "b"}, said("eve", id="c")],
    [said("ann", "look", 1, id="d"), said("ann", "buy", 5, id="a"), said(None, id="e")],
]


class Cut(BaseException):
    """The end of the process, as far as the files are concerned."""


def end_of_the_process() -> None:
    raise Cut


@dataclass
class Life:
    """One lake, and the operation that somebody asks for until it is done."""

    settings: Settings
    ask: Callable[[Settings], object]

    @property
    def layout(self) -> Layout:
        return Layout(self.settings.lake)

    def left(self) -> dict[str, Any]:
        """Everything that people could see of it, once the books are posted too."""
        told: dict[str, Any] = {}
        for name in ("r1", "r2"):
            table = open_table(self.layout.silver(name, SOURCE))
            if table is not None:
                post(self.layout, (mending.source(SOURCE),), name)
                rows = table.to_pyarrow_table().drop_columns("epoch")
                told[name] = rows.sort_by([("partition", "ascending"), ("offset", "ascending")]).to_pylist()
            told[f"{name} views"] = answers(self.layout, name)
            told[f"{name} books"] = sorted(booked(self.layout.ledger(), name)[0].items()) if table else []
        told["current"] = registry(self.layout, "toy").current
        told["states"] = {name: row.state for name, row in registry(self.layout, "toy").releases.items()}
        told["audit"] = [replace(entry, at=None) for entry in entries(self.layout)]  # type: ignore[arg-type]
        return told


def answers(layout: Layout, release: str) -> dict[str, list[str]]:
    reader = Reader(layout, fixed={"toy": release})
    reader.refresh()
    tables = {name: reader.table(view) for name, view in reader.views().items() if name in VIEWS}
    shown = {
        name: rows.select([each for each in rows.column_names if "p95" not in each])
        for name, rows in tables.items()
        if rows
    }
    return {name: sorted(map(str, rows.to_pylist())) for name, rows in shown.items()}


def job(name: str, *words: str) -> Callable[[Settings], object]:
    """A Spark job as a step runs it, in the tests' session."""

    def ask(settings: Settings) -> None:
        spec = importlib.util.spec_from_file_location(f"job_{name}", JOBS / f"{name}.py")
        assert spec
        assert spec.loader
        main = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(main)
        signed = (f"--operation={name}/1", "--who=lina", "--why=to see", "--approved-by=omar")
        with pytest.MonkeyPatch.context() as patch:
            for key, value in settings.to_env().items():
                patch.setenv(key, value)
            patch.setattr(sys, "argv", [name, *words, *signed])
            assert main.main() == 0

    return ask


def moved(to: str, operation: str) -> Callable[[Settings], object]:
    return lambda settings: switched(Layout(settings.lake), "toy", to, "lina", "to see", "omar", operation)


def dropped(settings: Settings) -> object:
    entry = Entry("drop/1", "drop", "toy", "lina", "to see", "omar", {"release": "r2"})
    return dropping.drop(Layout(settings.lake), settings.home, entry, "r2")


def lost(layout: Layout) -> None:
    """Somebody deletes a folder."""
    shutil.rmtree(f"{layout.root}/{SILVER}")


def second(layout: Layout) -> None:
    """Another release of the same records, to which readers may be switched."""
    for tier in ("silver", "gold", "speed"):
        shutil.copytree(f"{layout.root}/{tier}/r1", f"{layout.root}/{tier}/r2")
    say(layout, Release("toy", "r2", READY))


def left_behind(layout: Layout) -> None:
    second(layout)
    switch(layout, "toy", "r2", "lina", "before")


def nothing(layout: Layout) -> None:
    pass


# The module or class whose function makes a commit, in the order in which an operation comes to them.
STATED: Any = (Statements, "state")
BUILT: list[Any] = [(build, "published"), (Batch, "_forget"), (audit, "record")]
OPERATIONS: dict[str, tuple[Callable[[Layout], None], Callable[[Settings], object], list[Any]]] = {
    "repair": (
        nothing,
        job("repair", f"--source={SOURCE}", "--reason=missing_who", "--rename=whom=who"),
        [STATED, (repair, "committed"), *BUILT],
    ),
    "restate": (
        nothing,
        job("restate", f"--source={SOURCE}", "--where=what = 'buy'", "--field=amount", "--value=amount * 10"),
        [STATED, (retraction, "committed"), *BUILT],
    ),
    "rebuild": (
        lost,
        job("rebuild", f"--table={SILVER}"),
        [(mending, "create"), (Appender, "append"), (mending, "rebooked"), *BUILT],
    ),
    "switch": (second, moved("r2", "switch/1"), [(releases, "commit"), (audit, "record")]),
    "revert": (left_behind, moved(PREVIOUS, "switch/2"), [(releases, "commit"), (audit, "record")]),
    "drop": (second, dropped, [(dropping, "commit"), (Place, "remove"), (audit, "record")]),
}


@pytest.fixture
def lake(spark: SparkSession, toy: Domain, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """Two epochs of the live stream, of which the first is in gold."""
    chosen = [view for view in toy.views if view.name in VIEWS]
    for module in (retraction, mending):
        monkeypatch.setattr(module, "views_of", lambda _: chosen)
    gate = lambda *_: lambda rows, name: Passed()  # noqa: E731
    for module, name, other in (
        (session, "open_session", lambda *_, **__: spark),
        (stating, "open_session", lambda *_, **__: spark),
        (sys.modules["penstock.engine.gate"], "recorded", gate),
        (stating, "recorded", gate),
        # No broker is behind these settings, and nobody has registered a schema.
        (Schemas, "of_source", lambda *_: {}),
    ):
        monkeypatch.setattr(module, name, other)
    log = ToyLog(spark, Layout(settings.lake))
    log.take(TOLD[0])
    Batch(spark, log.layout, "r1", lambda rows, name: Passed()).build(chosen)
    log.take(TOLD[1])
    return log.layout


@pytest.mark.parametrize("name", OPERATIONS if FULL else [name for name in OPERATIONS if name not in LONG])
def test_an_operation_that_is_cut_off_at_each_of_its_commits_is_done_once(
    lake: Layout, settings: Settings, tmp_path: Path, name: str
) -> None:
    made, ask, commits = OPERATIONS[name]
    made(lake)
    other = replace(settings, home=tmp_path / "uncut", lake=str(tmp_path / "uncut" / "lake"))
    shutil.copytree(lake.root, other.lake)
    uncut, cut = Life(other, ask), Life(settings, ask)
    uncut.ask(uncut.settings)
    for owner, method in commits:
        for when in ("before", "after"):
            with pytest.MonkeyPatch.context() as patch, pytest.raises(Cut):
                Point(owner, method, 1, when).arm(end_of_the_process, patch.setattr)
                cut.ask(cut.settings)
    cut.ask(cut.settings)
    expected = uncut.left()
    assert cut.left() == expected
    assert len(expected["audit"]) == 1
