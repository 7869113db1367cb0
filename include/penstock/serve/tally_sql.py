# ruff: noqa: S608 - the text holds names of the view only; what was said from outside is parameters
"""A question about a tally as DuckDB SQL: only names of the view are in the text, everything said is a parameter."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from penstock.lake.names import quoted
from penstock.model.bucket import Bucket, widths
from penstock.model.view import Tally
from penstock.serve.question import OPERATORS, Filter, Question
from penstock.serve.snapshot import Segment
from penstock.serve.windows_sql import bucket_sql, hopping_sql, retained_sql

HOUR = 3600


def segments(question: Question, tally: Tally) -> list[Segment]:
    """Which stored width to read over which range: wide rows inside, the tally's own at the ragged ends."""
    own, *wider = widths(tally.every)
    start, end = own.ceiling(question.reads_from), own.ceiling(question.end)
    usable = [width for width in wider if _fits(width, question)]
    if not usable:
        return [(own.name, start, end)]
    wide = usable[-1]
    low, high = wide.ceiling(start), wide.floor(end)
    if low >= high:
        return [(own.name, start, end)]
    ragged = [(own.name, start, low), (own.name, high, end)]
    return [(wide.name, low, high), *(each for each in ragged if each[1] < each[2])]


def tally_sql(question: Question, tally: Tally, sources: Sequence[str]) -> tuple[str, list[Any]]:
    """One statement over the relations `kept` (what `kept_sql` made of gold) and `open`, as far as they are there."""
    parts = {"kept": f"select {', '.join([*_columns(question, tally), 'false as _open'])} from kept"}
    parameters: list[Any] = []
    if "open" in sources:
        own = widths(tally.every)[0]
        parts["open"], parameters = _chosen(question, tally, "open", [(own.name, question.reads_from, question.end)])
    chosen = " union all by name ".join(parts[name] for name in sources)
    grouped = _grouped(question)
    steps = [f"chosen as ({chosen})", f"folded as ({_folded(question, tally)})"]
    if question.every and question.over:
        steps.append(f"windows as ({hopping_sql(question, question.every, question.over, _folds(tally))})")
    last = "windows" if question.over else "folded"
    shown = f"select {', '.join([*grouped, *_shown(tally)])}, {ALL_GROUPS} from {last}"
    order = ordering(question, grouped, tally)
    if question.retained:
        shown = f"select *, {ALL_GROUPS} from ({retained_sql(question, tally)})"
        order = ", ".join([*grouped, "again"])
    return f"with {', '.join(steps)} {shown} order by {order} limit {question.limit}", parameters


def kept_sql(question: Question, tally: Tally) -> tuple[str, list[Any]]:
    """What gold has for a question, folded: it stays true until gold changes, whatever comes in meanwhile."""
    chosen, parameters = _chosen(question, tally, "gold", segments(question, tally))
    stored = ", ".join(_columns(question, tally)).replace("facts", "_facts as facts", 1)
    return f"with chosen as ({chosen}) select {stored} from ({_folded(question, tally)})", parameters


def _columns(question: Question, tally: Tally) -> list[str]:
    return ["facts", *_grouped(question), *map(quoted, _folds(tally))]


def _grouped(question: Question) -> list[str]:
    return [*(["bucket"] if question.every else []), *map(quoted, question.by)]


def _folds(tally: Tally) -> dict[str, str]:
    return {name: sql for key, measure in tally.measures.items() for name, sql in measure.folds(key).items()}


def _folded(question: Question, tally: Tally) -> str:
    grouped = _grouped(question)
    parts = [*TOTALS, *(f"{sql} as {quoted(name)}" for name, sql in _folds(tally).items())]
    how = f"group by {', '.join(grouped)}" if grouped else "having count(*) > 0"
    return f"select {', '.join([*grouped, *parts])} from chosen {how}"


TOTALS = "cast(sum(facts) as bigint) as _facts", "coalesce(sum(facts) filter (where _open), 0) as _provisional"
ALL_GROUPS = (
    "count(*) over () as _groups, sum(_facts) over () as _all_facts, sum(_provisional) over () as _all_provisional"
)


def ordering(question: Question, grouped: Sequence[str], tally: Tally) -> str:
    """As asked, else by time, else the largest first. The keys decide between equals, so that answers repeat."""
    asked = [f"{quoted(name.removeprefix('-'))} {direction(name)}" for name in question.order]
    usual = [] if question.every else [f"{quoted(next(iter(tally.measures)))} desc nulls last"]
    return ", ".join([*(asked or usual), *grouped]) or "1"


def filters(where: Sequence[Filter]) -> tuple[list[str], list[Any]]:
    """Conditions on keys, and their parameters."""
    conditions: list[str] = []
    parameters: list[Any] = []
    for each in where:
        column = f"cast({quoted(each.column)} as varchar)"
        operator = OPERATORS[each.operator]
        marks = ", ".join("?" for _ in each.values)
        call = (
            f"{operator}({column}, ?)" if each.operator in ("prefix", "contains") else f"{column} {operator} ({marks})"
        )
        conditions.append(call)
        parameters.extend(each.values)
    return conditions, parameters


def direction(name: str) -> str:
    return "desc nulls last" if name.startswith("-") else "asc nulls last"


def _chosen(question: Question, tally: Tally, source: str, ranges: Sequence[Segment]) -> tuple[str, list[Any]]:
    """The rows of one relation in these widths and ranges, by the question's own buckets and keys."""
    bucket = [f"{bucket_sql(question)} as bucket"] if question.every else []
    columns = ["facts", *bucket, *map(quoted, question.by), *map(quoted, _folds(tally))]
    asked, said = filters(question.where)
    moments = " or ".join("(width = ? and bucket >= ? and bucket < ?)" for _ in ranges)
    where = " and ".join([f"({moments})", *asked])
    sql = f"select {', '.join(columns)}, {str(source == 'open').lower()} as _open from {source} where {where}"
    return sql, [*(value for each in ranges for value in each), *said]


def _shown(tally: Tally) -> list[str]:
    """Each number; ratios last, since they are made of the others."""
    in_order = sorted(tally.measures.items(), key=lambda named: bool(named[1].needs))
    return [f"{measure.shown(name)} as {quoted(name)}" for name, measure in in_order]


def _fits(width: Bucket, question: Question) -> bool:
    if question.every and not width.divides(question.every):
        return False
    return question.zone == "UTC" or (width.seconds <= HOUR and _whole_hours(question))


def _whole_hours(question: Question) -> bool:
    zone = ZoneInfo(question.zone)
    offsets = (zone.utcoffset(moment) for moment in _months(question.start, question.end))
    return all(offset is not None and offset % timedelta(hours=1) == timedelta(0) for offset in offsets)


def _months(start: datetime, end: datetime) -> list[datetime]:
    """A moment of each month: no zone changes to half hours and back within one."""
    step = timedelta(days=28)
    return [start + step * number for number in range((end - start) // step + 1)] + [end]
