"""A replay of all of bronze into a new release, beside the batch rebuild of the same facts, with all views and with the
six that other programs count as well; of one view; restore point; switch and revert.

The live release is what a real driver made of a real log: the replay's rows are compared with all of its rows.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import duckdb
from deltalake import DeltaTable

from penstock.engine.pinning import take
from penstock.lake.files import size_of
from penstock.lake.layout import Layout
from penstock.lake.releases import PREVIOUS, switch
from penstock.ops.bench import Figure
from penstock.ops.bench.rebuild import build
from penstock.ops.bench.undo import timed
from penstock.ops.load.jobs import Took, took
from penstock.ops.load.releases import CORES, answered, far, of_views, other_code, replayed
from penstock.ops.peers import QUESTIONS
from penstock.ops.rig import TOPIC, rig, serving
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

OTHER = "web.screens"
# All days again, of what was built a moment ago.
REBUILD = ("--domain=web", "--full")


def run(quick: bool) -> Iterator[Figure]:
    records = int(os.environ.get("PENSTOCK_BENCH_FACTS", "100000" if quick else "2000000"))
    with rig() as place:
        settings = replace(place.settings, serve_port=free_port())
        place.produce(records)
        with place.driver():
            place.wait(place.silver, records)
            place.wait(place.bronze, records)
        layout, six = Layout(settings.lake), [question.view for question in QUESTIONS]
        # Before there is another release that would be built as well.
        rebuilt = build(settings)
        six_rebuilt = took(settings, "build_views", *REBUILD, *(f"--view={name}" for name in six)).seconds
        whole = replayed(settings)
        yield from figures(settings, "all views", whole, rebuilt, "r2", records)
        one = replayed(settings, "bench/2", *one_view(settings))
        right = same(layout, "r3") and size_of(layout.gold("r3", OTHER))[0] > size_of(layout.gold("r1", OTHER))[0]
        told = "seconds, one view by other code, beside the whole replay"
        yield Figure("replay", told, one.seconds, peer=whole.seconds, gate_ok=right, detail=one.detail)
        few = replayed(settings, "bench/3", f"--code={of_views(settings, six)}")
        # Whose views need nothing of other sources, his facts say nothing of what was known of them.
        yield from figures(settings, "six views", few, six_rebuilt, "r4", records, "known")
        seconds, point = timed(lambda: take(layout, "hand", "bench", "before the switch"))
        yield Figure("replay", "seconds, restore point", seconds, goal="<= 5 s", detail={"tables": len(point.tables)})
        with serving(settings):
            yield from switches(settings)


def figures(
    settings: Settings, views: str, whole: Took, rebuilt: float, release: str, records: int, *but: str
) -> Iterator[Figure]:
    """A replay beside the rebuild of the same views; its rows beside the live ones, in all columns but some."""
    right = same(Layout(settings.lake), release, *but)
    detail = {"records": records, "cores": CORES, "with": "starts and gates", **whole.detail, **far(settings, release)}
    rate = round(records / whole.seconds)
    told = f"records a second, bronze to {views}"
    yield Figure("replay", told, rate, goal=">= 100000", gate_ok=right, detail=detail)
    told = f"seconds to {views}, beside the batch rebuild of the same facts"
    yield Figure("replay", told, whole.seconds, peer=rebuilt, goal="<= 1.5x", gate_ok=right, detail=detail)


def one_view(settings: Settings) -> tuple[str, ...]:
    """Narrower buckets of one view, as a replay of that view is asked for."""
    narrower = other_code(settings, "views.py", 'every="1 hour"', 'every="1 minute"', after=f'"{OTHER}"')
    return f"--code={narrower}", f"--view={OTHER}"


def same(layout: Layout, other: str, *but: str) -> bool:
    """Whether a release has the same rows as the live one, in every column but the epoch and these."""
    live, new = (_sum(layout.silver(release, TOPIC), ("epoch", *but)) for release in ("r1", other))
    return live == new


def _sum(silver: str, but: Sequence[str]) -> tuple[Any, ...]:
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("silver", DeltaTable(silver).to_pyarrow_dataset())
        told = f"select count(*), sum(hash(rows)) from (select * exclude ({', '.join(but)}) from silver) rows"  # noqa: S608
        return tuple(memory.execute(told).fetchall()[0])


def switches(settings: Settings) -> Iterator[Figure]:
    """From before a switch is committed until the server answers of the other release, with the same rows."""
    layout, before = Layout(settings.lake), answered(settings, "r1")
    for what, to, release in (("switch", "r2", "r2"), ("revert", PREVIOUS, "r1")):
        seconds, rows = timed(partial(moved, settings, layout, to, release))
        told = f"seconds until readers see a {what}"
        yield Figure("replay", told, seconds, goal="<= 1 s", gate_ok=rows == before != [], detail={"rows": len(rows)})


def moved(settings: Settings, layout: Layout, to: str, release: str) -> list[Any]:
    switch(layout, "web", to, "bench", "to see")
    return answered(settings, release)
