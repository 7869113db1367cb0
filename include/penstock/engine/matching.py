# ruff: noqa: S608 - the text holds names of columns, marks and moments that were parsed; conditions are expressions
"""Which rows of silver a retraction or a restatement is about, and what becomes of them: DuckDB over Arrow, no JVM.

A condition is parsed as one expression and sees the columns of facts only; nothing outside can be reached from it.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from penstock.engine import silver
from penstock.engine.conditions import BadCondition, closed, columns_of, moment, parsed, steady, wrong
from penstock.engine.restating import RESTATED, restated
from penstock.lake.retention import WHOLE
from penstock.lake.retractions import REASON, Restatement, Retraction
from penstock.model.source import Source

HELD = f"list_filter(coalesce(flags, []), lambda flag: flag like '{REASON}:%')"
PICKED = 'partition, "offset", day, cast(happened_at as date) as happened, flags as was'


def about(rows: Any, source: Source, said: Retraction) -> pa.Table:
    """Positions and days of rows that a statement would still change: facts, and what other statements retracted.

    With the flags that each row has (`was`): whoever changes them meanwhile changes what this is about. Of a
    restatement with what it makes of them.
    """
    columns = columns_of(source)
    marked = f"len(list_filter(coalesce(flags, []), lambda flag: {_is(said)})) > 0"
    known = f"(disposition = '{silver.FACT}' or reason = '{REASON}')"
    rules = [known, WHOLE, marked if said.of else f"not {marked}", *_range(said), *_position(said)]
    listed = ", ".join(f'"{name}"' for name in columns)
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("rows", rows)
        memory.execute("set enable_external_access = false")
        try:
            seen = memory.sql(f"select {listed} from rows where {' and '.join(rules)}")
            chosen = seen.filter(parsed(said.where, columns))
            told = restated(chosen, source, said, columns) if isinstance(said, Restatement) else chosen.select(PICKED)
            return _one_a_record(told.to_arrow_table(), said)
        except duckdb.Error as error:
            asked = f"{said.where} … {said.value}" if isinstance(said, Restatement) else said.where
            raise wrong(asked, columns, error) from error


def _one_a_record(picked: pa.Table, said: Retraction) -> pa.Table:
    records = picked.group_by(["partition", "offset"]).aggregate([]).num_rows
    assert records == picked.num_rows, f"{said.id} is about {picked.num_rows:,} rows of {records:,} records"
    return picked


def _is(said: Retraction) -> str:
    """Whether a flag is a statement's mark; one that restates says the field and the earlier value behind it."""
    return f"flag = '{said.mark}' or starts_with(flag, '{said.mark}:')"


def _range(said: Retraction) -> list[str]:
    first = [f"happened_at >= timestamptz '{moment(said.first)}'"] if said.first else []
    return [*first, *([f"happened_at < timestamptz '{moment(said.last)}'"] if said.last else [])]


def _position(said: Retraction) -> list[str]:
    parts = [f'(partition = {int(part)} and "offset" < {int(end)})' for part, end in said.ends.items()]
    return [f"({' or '.join(parts)})"] if parts else []


def named(
    operation: str, source: Source, where: str, first: str, last: str, of: str, by: str = "", why: str = ""
) -> Retraction:
    """What an operator asks for, as a statement whose name follows from the operation's."""
    if not where and not of:
        raise BadCondition(f"which facts of {source.name}? Give a condition, such as \"visitor = 'v7'\"")
    steady(where or "true", columns_of(source))
    name = f"x{hashlib.sha256(operation.encode()).hexdigest()[:8]}"
    return Retraction(name, source.name, where or "true", *closed(first, last), of=of, by=by, why=why)


RETRACTED = f"""
select r.* replace (
    case when p.partition is null then flags else list_append(coalesce(flags, []), $mark) end as flags,
    case when p.partition is null then disposition else '{silver.REJECTED}' end as disposition,
    case when p.partition is null then reason else '{REASON}' end as reason,
    case when p.partition is null then r.day else cast(logged_at as date) end as day
) from rows r left join picked p on r.partition = p.partition and r."offset" = p."offset"
order by r.partition, r."offset"
"""
REVOKED = f"""
select r.* exclude (free) replace (
    case when p.partition is null then flags else list_filter(flags, lambda flag: flag <> $mark) end as flags,
    case when free then '{silver.FACT}' else disposition end as disposition,
    case when free then null else reason end as reason,
    case when free then cast(happened_at as date) else r.day end as day
) from (
    select rows.*, picked.partition is not null and len(list_filter({HELD}, lambda flag: flag <> $mark)) = 0 as free
    from rows left join picked on rows.partition = picked.partition and rows."offset" = picked."offset"
) r left join picked p on r.partition = p.partition and r."offset" = p."offset"
order by r.partition, r."offset"
"""


def after(rows: pa.Table, source: Source, said: Sequence[Retraction]) -> pa.Table:
    """Rows of silver after these statements, in their order. Pure: what a replay does to each epoch."""
    for each in said:
        picked = about(rows, source, each)
        if picked.num_rows:
            rows = _after(rows, picked, each)
    return rows


def _after(rows: pa.Table, picked: pa.Table, said: Retraction) -> pa.Table:
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("rows", rows)
        memory.register("picked", picked)
        if isinstance(said, Restatement):
            told = memory.sql(RESTATED.format(field=said.field)).to_arrow_table()
        else:
            told = memory.sql(REVOKED if said.of else RETRACTED, params={"mark": said.mark}).to_arrow_table()
        changed: pa.Table = told.select(rows.column_names).cast(rows.schema)
        return changed
