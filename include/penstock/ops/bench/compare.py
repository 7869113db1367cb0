# ruff: noqa: S608 - a condition and a name of these modules
"""The comparison of two releases of 90 days of web events, of which a rule rejects some: every view, and why."""

import os
from collections.abc import Iterator

import duckdb
from deltalake import DeltaTable, write_deltalake

from penstock.lake.layout import Layout
from penstock.lake.releases import READY, Release, say
from penstock.ops.bench import Figure
from penstock.ops.bench.rebuild import DAYS, SOURCE, build, filled
from penstock.ops.bench.undo import NONSENSE, nonsense, timed
from penstock.serve.compare.comparison import Comparison, compare

RULE = "bad_url"
AT_ONCE = 100_000
RULED = f"""
select * replace (case when {NONSENSE} then 'rejected' else disposition end as disposition,
    case when {NONSENSE} then '{RULE}' else reason end as reason) from silver
"""


def run(quick: bool) -> Iterator[Figure]:
    facts = int(os.environ.get("PENSTOCK_BENCH_FACTS", "50000" if quick else "2000000"))
    with filled(facts) as (settings, silver):
        layout = Layout(settings.lake)
        ruled = nonsense(silver)
        other(layout)
        build(settings)
        seconds, told = timed(lambda: compare(layout, settings.home, "web", "r1", "r2"))
        counted = [view for view in told.views if view.rows]
        detail = {"facts": facts, "days": DAYS, "views": len(counted), "moved": told.sources[0].moved}
        right = explained(told, ruled)
        yield Figure("compare", "seconds, two releases", seconds, goal="<= 60 s", gate_ok=right, detail=detail)


def other(layout: Layout) -> None:
    """A release whose code rejects the events of one page."""
    with duckdb.connect(":memory:", config={"memory_limit": "2GB"}) as engine:
        engine.execute("set TimeZone = 'UTC'")
        engine.register("silver", DeltaTable(layout.silver("r1", SOURCE)).to_pyarrow_dataset())
        rows = engine.sql(RULED).to_arrow_reader(AT_ONCE)
        write_deltalake(layout.silver("r2", SOURCE), rows, partition_by=["day"])
    say(layout, Release("web", "r2", READY))


def explained(told: Comparison, ruled: int) -> bool:
    """Whether exactly these records moved, by that rule alone, and what counts them changed."""
    (moves,) = [each for each in told.sources if each.source == SOURCE]
    causes = [(cause.name, cause.records) for cause in moves.causes]
    changed = {view.view: view for view in told.views if not view.same}
    return ruled > 0 and causes == [(f"rule {RULE}", ruled)] and changed["web.pageviews"].causes[0].name == causes[0][0]
