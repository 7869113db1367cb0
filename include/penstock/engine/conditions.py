"""What an operator may say of rows in DuckDB's SQL: a condition or a value, of one row, the same whenever asked."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import duckdb

# Of these one row alone does not decide.
BEYOND = {"SUBQUERY": "a subquery", "WINDOW": "a window", "STAR": "a star", "PARAMETER": "a parameter"}
UNSTEADY = """
select distinct function_name from duckdb_functions()
where stability <> 'CONSISTENT' or regexp_matches(macro_definition, 'now|current_|random|today')
"""

# Written without brackets, and functions by another name.
MOMENTS = ("current_time", "current_timestamp", "localtime", "localtimestamp")


class BadCondition(ValueError):
    """What was said cannot be understood. Nothing was changed; the message says why and what there is."""


@cache
def steady(text: str, columns: tuple[str, ...]) -> duckdb.Expression:
    """The one expression of a text. Refused where a replay, which sees other rows at another time, could differ."""
    if found := next(_unsteady(text, columns), None):
        raise BadCondition(f"{text!r}: {found} may say something else when a replay asks it. {_there(columns)}")
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
    with duckdb.connect() as memory:
        told = json.loads(memory.execute("select json_serialize_sql($1)", [f"select {text}"]).fetchall()[0][0])
        unsteady = {name for (name,) in memory.execute(UNSTEADY).fetchall()} | {*MOMENTS}
    for node in _nodes(told):
        yield from [BEYOND[node["class"]]] if node["class"] in BEYOND else []
        # Some functions are written like columns, which come first.
        named = [name for name in node.get("column_names", [])[:1] if name not in columns]
        yield from {node.get("function_name"), *named} & unsteady


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
    except ValueError as error:
        raise BadCondition(f"{text!r} is neither a day (2026-11-18) nor a moment (2026-11-18T09:30:00Z)") from error
    return (told if told.tzinfo else told.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def closed(first: str, last: str) -> tuple[str, str]:
    """A range as a form has it: a last day is included, a last moment is not."""
    whole = len(last) == len("2026-11-18")
    end = f"{date.fromisoformat(last) + timedelta(days=1)}" if last and whole else last
    if first and end and moment(first) >= moment(end):
        raise BadCondition(f"from {first} to {last} is no range: give the earlier one first")
    return first, end
