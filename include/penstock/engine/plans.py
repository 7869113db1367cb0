"""Which plan makes the partials of an epoch's facts: DuckDB for what is in memory, Spark for what is not."""

from collections.abc import Iterable, Mapping
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.engine import latest, sessions, tallies
from penstock.lake.local import Local
from penstock.model.view import Latest, Sessions, Tally, View


def partials(views: Iterable[View], facts: pa.Table | DataFrame) -> dict[str, pa.Table]:
    """What the speed plan appends for an epoch's facts, by view: day, width, then the view's own columns."""
    if isinstance(facts, DataFrame):
        # One partition needs no shuffle: an epoch of a second is a few thousand facts.
        small = facts.coalesce(1)
        return collect({view.name: frame(view, small) for view in views})
    views = list(views)
    local = Local(facts, [view for view in views if isinstance(view, Tally)])
    return {view.name: local.partials(view) for view in views}


def frame(view: View, facts: DataFrame) -> DataFrame:
    """The same by Spark, as the batch plan makes them."""
    match view:
        case Tally():
            return tallies.partials(view, facts)
        case Sessions():
            return sessions.minis(view, facts)
        case Latest():
            return latest.current(view, facts)
    raise TypeError(f"{view.name} is computed by key, not from an epoch's facts alone")


def collect(frames: Mapping[str, DataFrame]) -> dict[str, pa.Table]:
    """Small frames of different columns, brought to the driver by one Spark job."""
    if not frames:
        return {}
    # Columns keep their view's number: two views may hold different things by one name.
    numbered = [
        each.select(F.lit(number).alias("view"), *(each[name].alias(f"{number}.{name}") for name in each.columns))
        for number, each in enumerate(frames.values())
    ]
    together = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), numbered).toArrow()
    return {name: _own(together, number) for number, name in enumerate(frames)}


def _own(together: pa.Table, number: int) -> pa.Table:
    columns = [name for name in together.column_names if name.startswith(f"{number}.")]
    rows = together.filter(pc.equal(together["view"], number)).select(columns)
    return rows.rename_columns([name.partition(".")[2] for name in columns])
