"""What an operator may say of rows in DuckDB's SQL: a condition or a value, of one row, the same whenever asked."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import duckdb

from penstock.model.source import Source

SEEN = ("partition", "offset", "event_id", "happened_at", "received_at", "logged_at", "day", "flags")
# Of these one row alone does not decide.
BEYOND = {"SUBQUERY": "a subquery", "WINDOW": "a window", "STAR": "a star", "PARAMETER": "a parameter"}
UNSTEADY = """
select distinct function_name from duckdb_functions()
where stability <> 'CONSISTENT' or regexp_matches(macro_definition, 'now|current_|random|today')
"""
# Written without brackets, functions by another name, and clocks that DuckDB's own list takes for steady.
MOMENTS = ("current_date", "current_time", "current_timestamp", "localtime", "localtimestamp")
CLOCKS = ("current_localtime", "current_localtimestamp")
# Of a table's functions it knows only those that stand where a table does.
MANY = "select distinct function_name from duckdb_functions() where regexp_matches(macro_definition, 'unnest|unlist')"
ROWS = ("unnest", "unlist")


class BadCondition(ValueError):
    """What was said cannot be understood. Nothing was changed; the message says why and what there is."""


def columns_of(source: Source) -> tuple[str, ...]:
    """What a condition or a value may name."""
    return (*SEEN, *(field.name for field in source.fields))


def steady(text: str, columns: tuple[str, ...]) -> None:
    """Refuses what is no expression, or what a replay, which sees other rows at another time, could hear otherwise.

    Asked when something is stated, and only then: what is in force must be said again whatever is refused by then.
    """
    if found := next(_unsteady(text, columns), None):
        raise BadCondition(f"{text!r}: {found}. {_there(columns)}")
    parsed(text, columns)


@cache
def parsed(text: str, columns: tuple[str, ...]) -> duckdb.Expression:
    """The one expression of a text."""
    try:
        return duckdb.SQLExpression(text)
    except duckdb.Error as error:
        raise BadCondition(f"{text!r} is no expression: {error}. {_there(columns)}") from error


def wrong(text: str, columns: tuple[str, ...], error: Exception) -> BadCondition:
    return BadCondition(f"{text!r} cannot be asked: {error}. {_there(columns)}")


def _there(columns: tuple[str, ...]) -> str:
    listed = ", ".join(f'"{name}"' for name in columns)
    return f"Columns: {listed}"


def _unsteady(text: str, columns: tuple[str, ...]) -> Iterator[str]:
    """What is wrong with a text, in the words of a sentence."""
    with duckdb.connect() as memory:
        told = json.loads(memory.execute("select json_serialize_sql($1)", [f"select {text}"]).fetchall()[0][0])
        unsteady = {name for (name,) in memory.execute(UNSTEADY).fetchall()} | {*MOMENTS, *CLOCKS}
        many = {name for (name,) in memory.execute(MANY).fetchall()} | {*ROWS}
    known = {name.lower() for name in columns}
    for node in _nodes(told):
        # Some functions are written like columns, which come first; a name is the same in any case.
        function = (node.get("function_name") or "").lower()
        named = [name for each in node.get("column_names", [])[:1] if (name := each.lower()) not in known]
        wrong = [BEYOND[node["class"]]] if node["class"] in BEYOND else sorted({function, *named} & unsteady)
        # Up to when, if only since when is said: up to the day on which it is asked.
        wrong += ["age of one moment"] if function == "age" and len(node["arguments"]) == 1 else []
        yield from (f"{each} may say something else when a replay asks it" for each in wrong)
        yield from (f"{each} makes several rows of one" for each in {function} & many)


def _nodes(told: Any) -> Iterator[dict[str, Any]]:
    """Every part of an expression, as DuckDB's parser tells it."""
    if isinstance(told, dict):
        if "class" in told:
            yield told
        for inner in told.values():
            yield from _nodes(inner)
    if isinstance(told, list):
        for inner in told:
            yield from _nodes(inner)


def moment(text: str) -> str:
    """A moment of a range as SQL reads it."""
    try:
        told = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise BadCondition(f"{text!r} is neither a day (2026-11-18) nor a moment (2026-11-18T09:30:00Z)") from error
    return (told if told.tzinfo else told.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def closed(first: str, last: str) -> tuple[str, str]:
    """A range as a form has it: a last day is included, a last moment is not."""
    begins, ends = (moment(text) if text else "" for text in (first, last))
    whole = len(last) == len("2026-11-18")
    end = _day_after(ends) if last and whole else last
    if first and end and begins >= moment(end):
        raise BadCondition(f"from {first} to {last} is no range: give the earlier one first")
    return first, end


def _day_after(ends: str) -> str:
    try:
        return f"{datetime.fromisoformat(ends).date() + timedelta(days=1)}"
    except OverflowError as error:
        raise BadCondition("no day comes after 9999-12-31: leave the end of the range empty, and it is open") from error
