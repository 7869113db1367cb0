"""The speed plan: each epoch's partials of every view of a source, in one commit a view."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from penstock.engine.commit import Tables
from penstock.engine.perkey import recomputed
from penstock.engine.plans import partials
from penstock.lake.layout import Layout
from penstock.lake.local import Local
from penstock.lake.profiles import Profiles, enriched, profiles_of
from penstock.model.view import PerKey, Sessions, View, enrichment


def append(
    spark: SparkSession | None,
    layout: Layout,
    release: str,
    views: Iterable[View],
    facts: pa.Table | DataFrame,
    epoch: int,
    query_id: str,
    tables: Tables | None = None,
    profiles: Mapping[str, Profiles] | None = None,
) -> dict[str, int]:
    """Commits the partials of an epoch's facts to the views' speed tables. Says how many rows each got.

    `profiles`: what other sources say, by their names, where facts are enriched with it; read anew if they are absent.
    Facts in memory (Arrow) take a few milliseconds a view; a frame takes a Spark job. docs/decisions/0051.
    """
    # A tally of sessions is made of what its sessions have.
    own = [view for view in views if not isinstance(view.of, Sessions)]
    keyed = [view for view in own if isinstance(view, PerKey)]
    joined = [view for view in own if enrichment(view)]
    made = partials([view for view in own if view not in [*keyed, *joined]], facts)
    told = facts.toArrow() if [*keyed, *joined] and isinstance(facts, DataFrame) else facts
    made |= {view.name: recomputed(layout, release, view, told, epoch) for view in keyed}
    made |= _enriched(joined, told, profiles_of(layout, release, joined) if profiles is None else profiles)
    opened = Tables() if tables is None else tables
    with ThreadPoolExecutor(max(1, len(made))) as commits:
        done = {
            name: commits.submit(_commit, opened, layout.speed(release, name), rows, epoch, query_id)
            for name, rows in made.items()
        }
        return {name: commit.result() for name, commit in done.items()}


def _enriched(views: Iterable[View], facts: pa.Table, profiles: Mapping[str, Profiles]) -> dict[str, pa.Table]:
    """Partials of facts with what other sources had said of their keys."""
    made = {}
    for view in views:
        of = enrichment(view)
        assert of
        made[view.name] = Local(enriched(of, facts, profiles[of.said.source.name].rows())).partials(view)
    return made


def _commit(tables: Tables, path: str, rows: pa.Table, epoch: int, query_id: str) -> int:
    if rows.num_rows == 0:
        return 0
    stamped = rows.append_column(pa.field("epoch", pa.int64()), pa.array([epoch] * rows.num_rows, pa.int64()))
    table = tables.of(path, stamped.schema, ("epoch",))
    return int(stamped.num_rows) if table.append(stamped, query_id, epoch) else 0
