# ruff: noqa: S608 - conditions that this module and the suites wrote
"""What a suite's expectations count, in one aggregation: failing rows, nulls, all. Great Expectations judges them.

A library that reads the rows once for each of its metrics costs ten jobs; all of ours are one: docs/decisions/0062.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import duckdb
from deltalake import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine import versions
from penstock.engine.offending import COLUMN_ARGUMENTS, DUCKDB, SPARK, broken_by
from penstock.lake.dialect import teach
from penstock.lake.publication import column_names

ROWS = "true"
# Of each kind of expectation, the arguments that our own conditions say everything about.
UNDERSTOOD = {
    "column_values_to_not_be_null": {"column", "mostly"},
    "column_values_to_be_between": {"column", "min_value", "max_value", "mostly"},
    "column_values_to_be_in_set": {"column", "value_set", "mostly"},
    "column_values_to_match_regex": {"column", "regex", "mostly"},
    "column_pair_values_a_to_be_greater_than_b": {"column_A", "column_B", "or_equal"},
}
# What both engines say of a condition that does not fit the rows.
UNCOUNTABLE = (duckdb.Error, PySparkException)
BOOLEANS = {"result_format": "BOOLEAN_ONLY"}


class Rows(Protocol):
    """Rows that a gate looks at. `quote` is the mark around a column's name in conditions."""

    quote: ClassVar[str]

    @property
    def columns(self) -> Sequence[str]: ...

    def counted(self, conditions: Sequence[str]) -> list[int]:
        """For how many rows each condition holds, in one pass."""
        ...

    def frame(self) -> DataFrame: ...


@dataclass(frozen=True)
class Framed:
    """Rows that only Spark has."""

    quote: ClassVar[str] = SPARK
    rows: DataFrame

    @property
    def columns(self) -> Sequence[str]:
        return self.rows.columns

    def counted(self, conditions: Sequence[str]) -> list[int]:
        told = self.rows.agg(*(F.expr(f"count_if({condition})") for condition in conditions)).first()
        assert told is not None
        return list(told)

    def frame(self) -> DataFrame:
        return self.rows


@dataclass(frozen=True)
class Written:
    """A table's rows, counted from its files as they lie: a plan and a snapshot of Spark's take longer than to read."""

    quote: ClassVar[str] = DUCKDB
    spark: SparkSession
    path: str
    # For DuckDB, for Spark and for Delta's log.
    where: str = ROWS
    version: int | None = None

    @property
    def columns(self) -> Sequence[str]:
        return column_names(self._table())

    def counted(self, conditions: Sequence[str]) -> list[int]:
        with duckdb.connect(":memory:", config={"threads": 1}) as engine:
            teach(engine)
            engine.register("written", versions.dataset(versions.table(self._table()), self.where))
            # Of no rows DuckDB counts null, and Spark nought.
            counts = ", ".join(f"coalesce(count_if({condition}), 0)" for condition in conditions)
            told = engine.execute(f"select {counts} from written where {self.where}").fetchone()
        assert told is not None
        return [int(count) for count in told]

    def frame(self) -> DataFrame:
        version = self._table().version()
        rows = self.spark.read.format("delta").option("versionAsOf", version).load(self.path)
        return rows.where(self.where)

    def _table(self) -> DeltaTable:
        return DeltaTable(self.path, version=self.version)


def seen(rows: DataFrame | Rows) -> Rows:
    """A frame is counted by Spark."""
    return Framed(rows) if isinstance(rows, DataFrame) else rows


def metrics(expectation: Any, rows: Rows) -> dict[Any, str] | None:
    """Great Expectations' id of each metric that the expectation needs, and whose count it is.

    None where our conditions do not say everything that the expectation asks.
    """
    kwargs = {name: value for name, value in expectation.configuration.kwargs.items() if _says(name, value)}
    kind = expectation.expectation_type.removeprefix("expect_")
    if not kwargs.keys() <= UNDERSTOOD.get(kind, set()):
        return None
    if not {value for name, value in kwargs.items() if name in COLUMN_ARGUMENTS} <= set(rows.columns):
        return None
    counted = _counted(kind, kwargs, rows.quote)
    needed = expectation.get_validation_dependencies(None, BOOLEANS.copy()).metric_configurations
    known = {metric.id: next((sql for end, sql in counted.items() if name.endswith(end)), "")
             for name, metric in needed.items()}  # fmt: skip
    return known if all(known.values()) else None


def _says(name: str, value: Any) -> bool:
    return name != "batch_id" and value is not None and value is not False


def _counted(kind: str, kwargs: dict[str, Any], quote: str) -> dict[str, str]:
    """How a metric's name ends, and the condition of the rows that it counts. The first that fits."""
    broken = broken_by(kind, kwargs, quote)
    if "column_A" not in kwargs:
        absent = f"{quote}{kwargs['column']}{quote} is null"
        return {"nonnull.unexpected_count": absent, ".unexpected_count": broken, "table.row_count": ROWS}
    left, right = (f"{quote}{kwargs[name]}{quote}" for name in ("column_A", "column_B"))
    # One that is absent proves no order; where both are, there is nothing to compare.
    return {
        ".unexpected_count": f"({broken}) or ({left} is null) <> ({right} is null)",
        ".filtered_row_count": f"{left} is not null or {right} is not null",
        "table.row_count": ROWS,
    }


def result(expectation: Any, counts: dict[Any, int]) -> dict[str, Any]:
    """Great Expectations' own judgement of the counts."""
    told: dict[str, Any] = expectation.metrics_validate(counts, runtime_configuration=BOOLEANS.copy()).to_json_dict()
    return told
