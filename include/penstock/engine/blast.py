# ruff: noqa: S608 - the text holds names and expressions of views only
"""The blast radius of a retraction or a restatement: facts, days, views, numbers before and after, alerts that were
told of them. Changes nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine import matching, restating, rollups, silver
from penstock.engine.conditions import BadCondition
from penstock.engine.matching import about, after
from penstock.lake import alerts, sketches
from penstock.lake.layout import Layout
from penstock.lake.local import Local
from penstock.lake.profiles import as_seen
from penstock.lake.publication import open_table
from penstock.lake.releases import current
from penstock.lake.retractions import RETRACTIONS, Restatement, Retraction
from penstock.model.domain import enriched_by, source, views_of
from penstock.model.source import Source
from penstock.model.view import Sessions, Tally, View

# Numbers before and after are told of the days that change most; each has to be read as a whole.
MOST_DAYS = 5
MOST_VALUES = 20
# Of a value, as a person sees it.
LONGEST = 80


@dataclass(frozen=True)
class Blast:
    """`facts` of `total` would change; `numbers` are rows of view, day, measure, before, after."""

    facts: int
    total: int
    days: Mapping[str, int]
    views: tuple[str, ...]
    numbers: tuple[Mapping[str, Any], ...] = field(default=())
    # Of a restatement: how many facts go from which value to which, the most first.
    values: tuple[Mapping[str, Any], ...] = field(default=())
    # Rule -> how many of its alerts are of these facts.
    alerts: Mapping[str, int] = field(default_factory=dict)

    def text(self) -> str:
        """For a person who approves."""
        head = f"{self.facts:,} of {self.total:,} facts, on {len(self.days)} days, in {len(self.views)} views.\n\n"
        if self.alerts:
            told = ", ".join(f"{rule} {count:,}" for rule, count in self.alerts.items())
            head += f"Told of them already, in the table and the topic of alerts, and not taken back: {told}.\n\n"
        rows = [
            f"| {n['view']} | {n['day']} | {n['measure']} | {_number(n['before'])} | {_number(n['after'])} |"
            for n in self.numbers
        ]
        told = head + "\n".join(["| view | day | measure | before | after |", "|---|---|---|---|---|", *rows])
        if not self.values:
            return told
        moved = [f"| {_shown(each['earlier'])} | {_shown(each['value'])} | {each['facts']:,} |" for each in self.values]
        return told + "\n\n" + "\n".join(["| value | becomes | facts |", "|---|---|---|", *moved])


def _shown(value: Any) -> str:
    """A value in a cell of a table: text of a client may hold anything."""
    return "" if value is None else str(value)[:LONGEST].replace("|", "\\|").replace("\n", " ")


def _number(value: Any) -> str:
    """A view's number, of whose fraction three digits are enough; a view may tell a page or a list as well."""
    if isinstance(value, int | float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    return _shown(value)


def text(layout: Layout, name: str, where: str, first: str, last: str, revoke: str) -> str:
    """What a person approves of a retraction: the blast in the release that readers see."""
    of = source(name)
    if revoke:
        RETRACTIONS.find(layout, name, revoke, Retraction.verb)
    return _text(layout, of, matching.named("plan", of, where, first, last, revoke))


def restated(layout: Layout, name: str, where: str, first: str, last: str, field: str, value: str, revoke: str) -> str:
    """The same of a restatement."""
    of = source(name)
    return _text(layout, of, restating.named(layout, "plan", of, where, first, last, field, value, revoke))


def _text(layout: Layout, of: Source, said: Retraction) -> str:
    blast = radius(layout, current(layout, of.domain), of, said)
    if why := rollups.settled(layout, of, blast.days):
        raise BadCondition(why)
    return blast.text()


def radius(layout: Layout, release: str, of: Source, said: Retraction) -> Blast:
    """What a statement would do to one release."""
    table = open_table(layout.silver(release, of.name))
    if table is None:
        raise BadCondition(f"{of.name} has no facts yet")
    rows = table.to_pyarrow_dataset()
    picked = about(rows, of, said)
    counted = picked.group_by("happened").aggregate([("happened", "count")]).sort_by([("happened_count", "descending")])
    days = {str(row["happened"]): row["happened_count"] for row in counted.to_pylist()}
    views = [*views_of(of), *enriched_by(of)]
    total = rows.count_rows(filter=pc.field("disposition") == silver.FACT)
    chosen = counted["happened"].slice(0, MOST_DAYS)
    near = rows.to_table(filter=pc.field("happened_at").cast(pa.date32()).isin(chosen)) if days else None
    seen = partial(as_seen, layout, release)
    numbers = tuple(_numbers(views_of(of), near, of, said, seen)) if near is not None else ()
    values = _values(picked) if isinstance(said, Restatement) else ()
    told = alerts.told_of(layout.alerts(), of.name, picked)
    return Blast(picked.num_rows, total, days, tuple(view.name for view in views), numbers, values, told)


def _values(picked: pa.Table) -> tuple[Mapping[str, Any], ...]:
    counted = picked.group_by(["earlier", "value"]).aggregate([([], "count_all")])
    counted = counted.rename_columns(["earlier", "value", "facts"]).sort_by([("facts", "descending")])
    return tuple(counted.slice(0, MOST_VALUES).to_pylist())


def _numbers(
    views: list[View], near: pa.Table, of: Source, said: Retraction, seen: Callable[[View, pa.Table], pa.Table]
) -> list[dict[str, Any]]:
    """`seen`: facts with what another source had said of them."""
    before, later = silver.facts(near), silver.facts(after(near, of, [said]))
    told = []
    for view in views:
        if isinstance(view, Tally) and not isinstance(view.of, Sessions):
            old, new = daily(view, seen(view, before)), daily(view, seen(view, later))
            told += [
                {"view": view.name, "day": day, "measure": name, "before": old.get(day, {}).get(name), "after": number}
                for day in sorted({*old, *new})
                for name in view.measures
                if (number := new.get(day, {}).get(name)) != old.get(day, {}).get(name)
            ]
    return told


def daily(view: Tally, facts: pa.Table) -> dict[str, dict[str, Any]]:
    """A tally's numbers by day, over all of its keys."""
    partials = Local(facts).partials(replace(view, by=(), every="1 day"))
    shown = ", ".join(f'{measure.shown(name)} as "{name}"' for name, measure in view.measures.items())
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        sketches.register(memory)
        memory.register("partials", partials)
        rows = memory.sql(f"select day, {shown} from partials").to_arrow_table().to_pylist()
    return {str(row.pop("day")): row for row in rows}
