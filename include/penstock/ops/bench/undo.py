"""A restore point, a rewind, and a retraction from its blast radius to its numbers, on all views of web events."""

import os
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import duckdb
from deltalake import DeltaTable

from penstock.engine.blast import text
from penstock.engine.pinning import take
from penstock.engine.rewind import rewind
from penstock.lake.files import size_of
from penstock.lake.layout import Layout
from penstock.lake.restore_points import RestorePoint
from penstock.ops.bench import Figure
from penstock.ops.bench.rebuild import SOURCE, build, fill, filled
from penstock.ops.load.jobs import took
from penstock.settings import Settings

# One page of forty, of a sender that broke.
NONSENSE = "page = '/p7'"
T = TypeVar("T")


def run(quick: bool) -> Iterator[Figure]:
    facts = int(os.environ.get("PENSTOCK_BENCH_FACTS", "50000" if quick else "10000000"))
    with filled(facts) as (settings, silver):
        layout = Layout(settings.lake)
        build(settings)
        detail: dict[str, object] = {"facts": facts}
        seconds, point = timed(lambda: take(layout, "hand", "bench", "before the mistake"))
        yield Figure("undo", "seconds, restore point", seconds, goal="<= 5 s", detail=detail)
        fill(silver, facts // 10, 1)
        build(settings)
        seconds, _ = timed(lambda: rewind(layout, point, "web", "bench", "to see"))
        yield Figure("undo", "seconds, rewind", seconds, goal="<= 120 s", gate_ok=back(layout, point), detail=detail)
        seconds, _ = timed(lambda: text(layout, SOURCE, NONSENSE, "", "", ""))
        yield Figure("undo", "seconds, blast radius", seconds, detail=detail)
        before = nonsense(silver)
        seconds, _ = timed(lambda: retracted(settings))
        detail["memory"] = "the JVM's start is in it"
        told, right = "seconds, retracted and published", before > 0 and nonsense(silver) == 0
        yield Figure("undo", told, seconds, goal="<= 600 s", gate_ok=right, detail=detail | {"retracted": before})


def timed(work: Callable[[], T]) -> tuple[float, T]:
    begun = time.perf_counter()
    told = work()
    return round(time.perf_counter() - begun, 2), told


def back(layout: Layout, point: RestorePoint) -> bool:
    """Whether every table has the rows of its pinned version."""
    paths = {f"{layout.root}/{name}": pin.version for name, pin in point.tables.items()}
    return all(size_of(path)[0] == size_of(path, version)[0] for path, version in paths.items())


def nonsense(silver: str) -> int:
    """The facts of the sender that broke."""
    with duckdb.connect() as memory:
        memory.register("rows", DeltaTable(silver).to_pyarrow_dataset())
        asked = f"select count(*) from rows where disposition = 'fact' and {NONSENSE}"  # noqa: S608
        return int(memory.execute(asked).fetchall()[0][0])


def retracted(settings: Settings) -> None:
    """The job as an operator runs it."""
    took(settings, "retract", f"--source={SOURCE}", f"--where={NONSENSE}", "--why=bench", "--operation=bench/1")
