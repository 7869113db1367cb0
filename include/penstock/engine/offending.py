"""The rows that break an expectation, found by our own expressions: Great Expectations caps and truncates its lists."""

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType

from penstock.lake.names import BRONZE
from penstock.model.domain import domains

MASK = "•••"
# How each engine tells a column from its own words: `offset` is one of DuckDB's.
DUCKDB, SPARK = '"', "`"
# Where an expectation names one.
COLUMN_ARGUMENTS = ("column", "column_A", "column_B")
# What no alert may carry whatever a domain says: a sender's own bytes and where they came from.
ALWAYS_MASKED = {"key", "value", "headers", "raw", "client_address", "user_agent"}


def failing_rows(expectations: Iterable[Any], quote: str) -> str:
    """A condition that holds for every row that breaks one of these; empty when none is about single rows."""
    conditions = (broken_by(each.expectation_type, each.configuration.kwargs, quote) for each in expectations)
    return " or ".join(f"({condition})" for condition in conditions if condition)


def broken_by(kind: str, kwargs: dict[str, Any], quote: str) -> str:
    """The condition of one expectation's failing rows, in SQL of the engine whose quotation mark is given."""
    column, left, right = (f"{quote}{kwargs.get(name)}{quote}" for name in COLUMN_ARGUMENTS)
    match kind.removeprefix("expect_"):
        case "column_values_to_not_be_null":
            return f"{column} is null"
        case "column_values_to_be_null":
            return f"{column} is not null"
        case "column_values_to_be_between":
            return _outside(column, kwargs.get("min_value"), kwargs.get("max_value"))
        case "column_values_to_be_in_set":
            return f"{column} not in ({', '.join(map(literal, kwargs['value_set']))})"
        case "column_values_to_match_regex":
            return f"not regexp_like({column}, {literal(kwargs['regex'])})"
        case "column_pair_values_a_to_be_greater_than_b":
            sign = "<" if kwargs.get("or_equal") else "<="
            return f"{left} {sign} {right}"
    return ""


def _outside(column: str, least: Any, most: Any) -> str:
    bounds = [(least, "<"), (most, ">")]
    return " or ".join(f"{column} {sign} {literal(bound)}" for bound, sign in bounds if bound is not None)


def literal(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value).lower()
    return "'" + str(value).replace("'", "''") + "'"


def masked_sample(rows: DataFrame, table: str, where: str, count: int) -> tuple[dict[str, Any], ...]:
    """A few of the failing rows as text, without what is personal."""
    if not where:
        return ()
    # A sketch holds hashes of people and says nothing to anybody.
    sketches = {field.name for field in rows.schema if isinstance(field.dataType, BinaryType)}
    hidden = personal_columns(table) | sketches
    # Text first: maps and timestamps then need no special care.
    texts = [f"left(cast(`{name}` as string), 80) as `{name}`" for name in rows.columns if name not in hidden]
    found = rows.where(where).limit(count).selectExpr(*texts).collect()
    return tuple({**row.asDict(), **{name: MASK for name in rows.columns if name in hidden}} for row in found)


def personal_columns(table: str) -> set[str]:
    """Every column that any source of the table's domain marks as personal, and what is masked always."""
    domain = domains().get(table.removeprefix(BRONZE).partition(".")[0])
    fields = (field for source in domain.sources for field in source.fields) if domain else ()
    return ALWAYS_MASKED | {field.name for field in fields if field.personal}
