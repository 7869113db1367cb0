# ruff: noqa: S608 - the text holds names of the view only; what was said from outside is parameters
"""Questions about views that hold rows by key, as DuckDB SQL."""

from collections.abc import Sequence
from typing import Any

from penstock.lake.names import quoted
from penstock.lake.session_sql import all_sessions_sql
from penstock.model.view import Latest, PerKey, Sessions, keys
from penstock.serve.question import Question, numbers
from penstock.serve.tally_sql import direction, filters


def rows_sql(question: Question, relations: Sequence[str]) -> tuple[str, list[Any]]:
    """The rows of the view that are asked for."""
    match question.view:
        case Sessions() as view:
            return _asked(question, all_sessions_sql(view, relations), "started")
        case Latest() as view:
            return _asked(question, _current(view, relations), None)
        case PerKey() as view:
            return _asked(question, _of_keys(view, relations), view.at)
    raise TypeError(f"{question.view.name} is a tally")


def _asked(question: Question, relation: str, at: str | None) -> tuple[str, list[Any]]:
    conditions, parameters = filters(question.where)
    if at is not None:
        conditions = [f"{quoted(at)} >= ? and {quoted(at)} < ?", *conditions]
        parameters = [question.start, question.end, *parameters]
    shown = [*map(quoted, keys(question.view)), *map(quoted, numbers(question.view))]
    asked = [f"{quoted(name.removeprefix('-'))} {direction(name)}" for name in question.order]
    usual = [f"{quoted(at)} desc nulls last"] if at is not None else []
    order = ", ".join([*(asked or usual), *map(quoted, keys(question.view))])
    totals = "sum(facts) over () as _all_facts, sum(_open) over () as _all_provisional, 0 as _groups"
    where = f"where {' and '.join(conditions)}" if conditions else ""
    sql = f"select {', '.join(shown)}, {totals} from ({relation}) {where} order by {order} limit {question.limit}"
    return sql, parameters


def _current(latest: Latest, relations: Sequence[str]) -> str:
    """The winner of each key; equal times are decided by value, as in the batch plan."""
    names = ", ".join(map(quoted, latest.key))
    row = ", ".join(f"{quoted(name)} := {quoted(name)}" for name in ("at", *latest.columns))
    parts = " union all by name ".join(
        f"select {names}, facts, {'facts' if name == 'open' else '0'} as _open, struct_pack({row}) as row from {name}"
        for name in relations
    )
    totals = "cast(sum(facts) as bigint) as facts, cast(sum(_open) as bigint) as _open, max(row) as row"
    return f"select {names}, row.*, facts, _open from (select {names}, {totals} from ({parts}) group by {names})"


def _of_keys(view: PerKey, relations: Sequence[str]) -> str:
    """Published rows of keys and days that no epoch has touched since, and the latest epoch's rows of the others."""
    names = [*map(quoted, view.key)]
    columns = ", ".join([*names, *map(quoted, view.columns)])
    same = " and ".join(f"g.{name} is not distinct from o.{name}" for name in [*names, "day"])
    latest = f"select *, rank() over (partition by {', '.join(names)}, day order by epoch desc) as _rank from open"
    # A key and day that has no rows any more is one row that says so: `facts` is zero.
    fresh = f"select {columns}, 1 as facts, 1 as _open from ({latest}) where _rank = 1 and facts > 0"
    untouched = f" where not exists (select 1 from open o where {same})" if "open" in relations else ""
    published = f"select {columns}, 1 as facts, 0 as _open from gold g{untouched}"
    parts = {"gold": published, "open": fresh}
    return " union all by name ".join(parts[name] for name in relations)
