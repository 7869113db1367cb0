"""Whether what came in since the last build may be called final: each source's own suite judges it first.

A sender that breaks is caught by its shape, so no number is wrong; but numbers that lack a twentieth of their records
are not to be published as final before a person has looked.
"""

from collections.abc import Iterable

from pyspark.sql import SparkSession

from penstock.engine import ahead, arrived
from penstock.engine.counting import Written
from penstock.engine.daily import FEW_ROWS
from penstock.engine.publish import Gate
from penstock.lake.layout import Layout
from penstock.lake.publication import cut_of, open_table
from penstock.model.view import View, source_of


def refused(spark: SparkSession, layout: Layout, release: str, views: Iterable[View], gate: Gate) -> dict[str, str]:
    """Source -> why its new dispositions did not pass. `gate` is one for silver."""
    views = list(views)
    why: dict[str, str] = {}
    for source in sorted({source_of(view).name for view in views}):
        path = layout.silver(release, source)
        silver = open_table(path)
        if silver is None:
            continue
        since = min(cut_of(layout, release, view.name, source) for view in views if source_of(view).name == source)
        if arrived.newest(silver) <= since:
            continue
        if arrived.at_most(silver, since) > FEW_ROWS:
            ahead.opened(spark)
        verdict = gate(Written(spark, path, arrived.after(since), silver.version()), source)
        if not verdict.passed:
            why[source] = (
                f"what came to {source} since the last build is not fit to be final: {verdict.reason}. Readers keep "
                "the last good numbers, and see the new ones as provisional. The console's page of rejected records "
                "says what came. Mend the sender or repair the records and clear this task, or build with *Accept*."
            )
    return why
