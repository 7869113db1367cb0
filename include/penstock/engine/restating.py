"""What a restatement makes of the rows that it is about: another value in one field. Pure: DuckDB over Arrow, no JVM.

A row's flags have, for each statement that holds it, the value that was there before. Taken back, a row says what the
last of the others said; without others, what it said at first.
"""

import hashlib
from collections.abc import Mapping

import duckdb

from penstock.engine.conditions import BadCondition, closed, columns_of, parsed, steady
from penstock.lake.layout import Layout
from penstock.lake.retractions import RETRACTIONS, Restatement
from penstock.model.source import Field, Source

# Types of fields -> DuckDB's types that a value for them may have.
KINDS: Mapping[str, set[str]] = {
    "string": {"VARCHAR"},
    "boolean": {"BOOLEAN"},
    "bigint": {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"},
    "double": {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"},
}
TYPES = {"string": "varchar"}

STATED = """
select partition, "offset", day, happened, was, earlier, value,
    list_append(coalesce(flags, []),
        '{mark}:{field}' || case when earlier is null then '' else '=' || cast(earlier as varchar) end) as flags
from chosen
"""
# `own` is the flag of the statement that is taken back, `later` that of the next one on the same field.
TAKEN_BACK = """
select partition, "offset", day, happened, was, earlier,
    case when later is not null then earlier when before = '' then null else cast(before[2:] as {type}) end as value,
    list_transform(
        list_filter(flags, lambda flag: flag <> own),
        lambda flag: case when flag = later then regexp_extract(later, '{said}') || before else flag end
    ) as flags
from (
    select *, own[{length} + 1:] as before,
        list_filter(
            flags[list_position(flags, own) + 1:], lambda flag: regexp_matches(flag, '{said}(=|$)')
        )[1] as later
    from (
        select *, list_filter(flags, lambda flag: flag = '{mark}' or starts_with(flag, '{mark}='))[1] as own
        from chosen
    )
)
"""


def named(
    layout: Layout,
    operation: str,
    source: Source,
    where: str,
    first: str,
    last: str,
    field: str,
    value: str,
    of: str,
    by: str = "",
    why: str = "",
) -> Restatement:
    """What an operator asks for, as a statement whose name follows from the operation's."""
    if of:
        told = RETRACTIONS.find(layout, source.name, of, Restatement.verb)
        assert isinstance(told, Restatement)
        field, value = told.field, ""
    else:
        restatable(source, field)
        if not value or not where:
            raise BadCondition(f"which facts of {source.name}, and what is right? Give a condition and a value")
        steady(value, columns_of(source))
    steady(where or "true", columns_of(source))
    name = f"s{hashlib.sha256(operation.encode()).hexdigest()[:8]}"
    return Restatement(
        name, source.name, where or "true", *closed(first, last), field=field, value=value, of=of, by=by, why=why
    )


def restatable(source: Source, name: str) -> Field:
    """The field, if it may be restated: what a record says for itself, and of nobody."""
    free = [field for field in source.fields if not _held(source, field)]
    found = known(source, name)
    if found in free:
        return found
    there = ", ".join(field.name for field in free)
    why = _held(source, found)
    raise BadCondition(f"{name} of {source.name} cannot be restated: {why}. Fields that may be restated: {there}")


def known(source: Source, name: str) -> Field:
    """The field of this name. What may be restated is asked when it is stated: what is in force is said again."""
    found = next((field for field in source.fields if field.name == name), None)
    if found is None:
        free = ", ".join(field.name for field in source.fields if not _held(source, field))
        raise BadCondition(
            f"{source.name} has no field {name!r} that a sender or a shape says. Fields that may be restated: {free}"
        )
    return found


def _held(source: Source, field: Field) -> str:
    """Why a field must stay as it is; empty: it need not."""
    if field.name == source.key:
        return "by it the log is partitioned"
    if field.personal or field.subject:
        return "it is personal, and a statement is kept for ever"
    return "" if field.type in KINDS else f"a {field.type} is not one value"


def restated(
    chosen: duckdb.DuckDBPyRelation, source: Source, said: Restatement, columns: tuple[str, ...]
) -> duckdb.DuckDBPyRelation:
    """Of chosen rows: the position, the value before (`earlier`) and after (`value`), and the flags that say so."""
    field = known(source, said.field)
    kept = [duckdb.ColumnExpression(name) for name in ("partition", "offset", "day", "flags")]
    kept.append(duckdb.ColumnExpression("flags").alias("was"))
    happened = duckdb.ColumnExpression("happened_at").cast("date").alias("happened")
    earlier = duckdb.ColumnExpression(field.name).alias("earlier")
    kind, mark = TYPES.get(field.type, field.type), f"{said.mark}:{field.name}"
    if said.of:
        chosen = chosen.select(*kept, happened, earlier)
        same = f"^{Restatement.verb}:[^:]+:{field.name}"
        return _asked(chosen, TAKEN_BACK.format(mark=mark, length=len(mark), said=same, type=kind))
    value = parsed(said.value, columns)
    _fits(field, str(chosen.select(value).types[0]), said.value)
    chosen = chosen.select(*kept, happened, earlier, value.cast(kind).alias("value"))
    return _asked(chosen, STATED.format(mark=said.mark, field=field.name))


def _asked(chosen: duckdb.DuckDBPyRelation, sql: str) -> duckdb.DuckDBPyRelation:
    told = chosen.query("chosen", sql)
    assert told is not None
    return told


def _fits(field: Field, kind: str, value: str) -> None:
    # An untyped null fits everywhere.
    if kind.partition("(")[0] not in {*KINDS[field.type], '"NULL"'}:
        raise BadCondition(f"{value!r} is a {kind}, and {field.name} a {field.type}: cast it, or say it otherwise")


RESTATED = """
select r.* replace (
    case when p.partition is null then r.flags else p.flags end as flags,
    case when p.partition is null then r."{field}" else p.value end as "{field}"
) from rows r left join picked p on r.partition = p.partition and r."offset" = p."offset"
order by r.partition, r."offset"
"""
