"""Erasure for good: keys are destroyed, rows of silver forget, views are built without them, and old files go.

What destroying a key does to bronze, log and spool at once has to be done to whatever was made of them: docs/decisions/
0089. Done again after a crash it does what is left; between its steps nobody sees a number that is half of anything.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from delta.tables import DeltaTable as SparkTable
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.engine import silver
from penstock.engine.build import Built
from penstock.engine.halting import halted, shapes_of
from penstock.engine.leaving import leave
from penstock.engine.naming import naming
from penstock.engine.pinning import releases
from penstock.engine.posting import post
from penstock.engine.publish import Gate
from penstock.engine.purging import purge
from penstock.engine.retraction import rebuilt
from penstock.engine.theirs import Asked, checked, facts_of, found_of, sealed_sources
from penstock.keys.store import Keys
from penstock.lake.erasures import ERASED, ERASURES, Erasure
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.model.domain import domains
from penstock.model.source import Source
from penstock.settings import Settings


def erase(
    spark: Callable[[], SparkSession], settings: Settings, wanted: Asked, gate_of: Callable[[str], Gate]
) -> tuple[list[Erasure], list[Built]]:
    """All of it, for every source and release of a domain. Returns what was erased and what was built."""
    checked(settings, wanted)
    layout, chosen = Layout(settings.lake), sealed_sources(wanted.domain)
    with halted(settings.home, [name for each in domains()[wanted.domain].sources for name in shapes_of(layout, each)]):
        for source in chosen:
            for release in releases(layout, domains()[wanted.domain]):
                leave(layout, release, source, Keys.of_home(settings.home), wanted.tokens)
        # From here on nobody opens their records: not bronze, not the log, not a spool that is still to be drained.
        Keys.of_home(settings.home).destroy(wanted.tokens, wanted.operation)
        named = {source.name: naming(settings, source, wanted.tokens) for source in chosen}
        found = {source.name: found_of(layout, source, named[source.name]) for source in chosen}
        said = [settled(layout, source, wanted, found[source.name]) for source in chosen]
        built: list[Built] = []
        for each, source in zip(said, chosen, strict=True):
            for release in releases(layout, domains()[wanted.domain]):
                own = found[source.name].get(release)
                built += _forgotten(spark, layout, release, source, own, each, gate_of(release))
        purge(layout, wanted.domain, named)
    return said, built


def settled(layout: Layout, source: Source, wanted: Asked, found: Mapping[str, pa.Table]) -> Erasure:
    """Writes down what goes, before any row changes."""
    said = wanted.named(source)
    if known := ERASURES.known(layout, said):
        return known
    days = sorted({str(day) for rows in found.values() for day in pc.unique(rows["happened"].drop_null()).to_pylist()})
    facts = {release: _facts(layout, release, source, rows) for release, rows in found.items()}
    most = max((rows.num_rows for rows in found.values()), default=0)
    return ERASURES.state(layout, replace(said, days=days, records=most, facts=facts))


def _facts(layout: Layout, release: str, source: Source, own: pa.Table) -> tuple[int, int]:
    """How many facts there are, and how many of them are theirs."""
    rows = DeltaTable(layout.silver(release, source.name)).to_pyarrow_dataset()
    return rows.count_rows(filter=pc.field("disposition") == silver.FACT), facts_of(own)


def _forgotten(
    spark: Callable[[], SparkSession],
    layout: Layout,
    release: str,
    source: Source,
    own: pa.Table | None,
    said: Erasure,
    gate: Gate,
) -> Sequence[Built]:
    """One release's silver and views without them, and the books after it."""
    path = layout.silver(release, source.name)
    if said.records == 0 or open_table(path) is None:
        return []
    # None of theirs is left where it was done before.
    if own is not None:
        forget(spark, path, source, own)
    # While the files that the commit removed can still be counted.
    post(layout, (source,), release)
    return rebuilt(spark(), layout, release, source, said, gate)


def forget(spark: Callable[[], SparkSession], path: str, source: Source, rows: pa.Table) -> None:
    """One commit: that there was a record, and when the log took it, is all that these rows still say."""
    # Columns need a session too.
    session = spark()
    days = ", ".join(f"date'{day}'" for day in sorted(set(rows["day"].to_pylist())))
    same = "rows.partition = theirs.partition and rows.offset = theirs.offset and rows.day = theirs.day"
    gone: dict[str, Any] = {f"`{name}`": F.lit(None) for name in silver.forgotten(source)}
    said = {"disposition": F.lit(silver.REJECTED), "reason": F.lit(ERASED), "day": F.to_date("rows.logged_at")}
    own = session.createDataFrame(rows.select(["partition", "offset", "day"])).alias("theirs")
    merge = SparkTable.forPath(session, path).alias("rows").merge(own, f"rows.day in ({days}) and {same}")
    merge.whenMatchedUpdate(set={**gone, **said}).execute()
