"""Sessions that began on asked days, made of facts again whatever was published of them.

One that began the night before belongs to the day before; one that goes on after midnight is followed to its end.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.engine import inmemory, sessions
from penstock.lake.local import Local
from penstock.lake.session_sql import gap
from penstock.model.view import Sessions

DAY = timedelta(days=1)
Span = tuple[date, date]


def few_rows(view: Sessions, silver: DeltaTable, asked: Span, most: int) -> pa.Table | None:
    """The sessions of facts that are in memory; None where they are too many."""
    first, last = asked
    until = last + DAY
    while (facts := inmemory.facts_of(silver, view, (first - DAY, until), most)) is not None:
        made = Local(facts).partials(view)
        began = made.filter((pc.field("day") >= first) & (pc.field("day") <= last))
        latest = pc.max(began["ended"]).as_py()
        if latest is None or latest <= after(until) - gap(view):
            return began
        until += DAY
    return None


def all_rows(view: Sessions, facts: DataFrame, asked: Span, held: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """The same by Spark, which reads them once."""
    first, last = asked
    until = last + DAY
    while True:
        near = facts.where(F.to_date(view.at).between(first - DAY, until))
        began = held(sessions.minis(view, near).where(F.col("day").between(first, last)))
        if began.where(F.col("ended") > F.lit(after(until) - gap(view))).isEmpty():
            return began
        until += DAY


def after(day: date) -> datetime:
    """The midnight that ends a day."""
    return datetime.combine(day + DAY, time(), UTC)
