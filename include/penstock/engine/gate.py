"""The gate: a Great Expectations suite that a table's new rows must pass before anybody may read them.

`check` runs `expectations.<table>` in the session of the rows. A suite that proves nothing is a failure:
no rows, fewer results than expectations, and an expectation that raised all refuse.
"""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from time import perf_counter
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame

from penstock.engine.counting import ROWS, UNCOUNTABLE, Rows, metrics, result, seen
from penstock.engine.offending import COLUMN_ARGUMENTS, DUCKDB, SPARK, failing_rows, masked_sample
from penstock.engine.suites import Suite, suite_of
from penstock.lake.gates import Checked, record
from penstock.lake.layout import Layout

# Read by Great Expectations when it is imported: a gate tells nobody outside about our tables.
os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")

SAMPLE_ROWS = 3
# A view's rows of some months: about a hundred megabytes of what a suite asks about.
FEW_ROWS = 1_000_000


@dataclass(frozen=True)
class Verdict:
    """What one expectation said. `raised` holds the error of one that could not be evaluated."""

    expectation: str
    severity: str
    passed: bool
    raised: str = ""
    observed: str = ""


@dataclass(frozen=True)
class GateResult:
    """`passed` is false when anything critical failed. `where` finds every row that did; `sample` has three, masked."""

    table: str
    passed: bool
    reason: str
    results: tuple[Verdict, ...]
    sample: tuple[dict[str, Any], ...] = ()
    where: str = ""

    @property
    def failed(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.results if not verdict.passed)

    @property
    def severity(self) -> str:
        """The worst severity among what failed: who must be told."""
        if not self.passed:
            return "critical"
        return min((verdict.severity for verdict in self.failed), key=ORDER.index, default="info")


ORDER = ("critical", "warning", "info")


def check(rows: DataFrame | Rows, table: str) -> GateResult:
    """Whether `rows` may be published as `table`."""
    suite = suite_of(table)
    given = seen(rows)
    count, results = judged(given, suite)
    if not count:
        reason = "" if suite.may_be_empty else f"{table} has no rows, so its suite would prove nothing"
        return GateResult(table, suite.may_be_empty, reason, ())
    if count < suite.enough:
        suite = suite.of_few()
        asked = {name_of(each.configuration.to_json_dict()) for each in suite.expectations}
        results = tuple(verdict for verdict in results if verdict.expectation in asked)
    reason = refusal(table, len(suite.expectations), results)
    if not reason:
        return GateResult(table, True, "", results)
    broken = {verdict.expectation for verdict in blocking(results) if not verdict.raised}
    failing = [each for each in suite.expectations if name_of(each.configuration.to_json_dict()) in broken]
    # For `penstock sql`, where people read it.
    where = failing_rows(failing, DUCKDB)
    sample = masked_sample(given.frame(), table, failing_rows(failing, SPARK), SAMPLE_ROWS) if where else ()
    return GateResult(table, False, reason, results, sample, where)


def judged(rows: Rows, suite: Suite) -> tuple[int, tuple[Verdict, ...]]:
    """How many rows there are, and what each expectation of the suite says of them."""
    needed = [metrics(each, rows) for each in suite.expectations]
    conditions = list(dict.fromkeys([ROWS, *(sql for each in needed for sql in (each or {}).values())]))
    try:
        counts = dict(zip(conditions, rows.counted(conditions), strict=True))
    except UNCOUNTABLE:
        # A condition does not fit its column: which one, Great Expectations says of each.
        needed, counts = [None] * len(needed), {ROWS: rows.counted([ROWS])[0]}
    if not counts[ROWS]:
        return 0, ()
    told = {
        number: result(expectation, {name: counts[sql] for name, sql in need.items()})
        for number, (expectation, need) in enumerate(zip(suite.expectations, needed, strict=True))
        if need
    }
    others = [number for number, need in enumerate(needed) if not need]
    if others:
        rest = replace(suite, expectations=tuple(suite.expectations[number] for number in others))
        told |= dict(zip(others, measured(rows.frame(), rest), strict=True))
    return counts[ROWS], tuple(_verdicts(told[number] for number in sorted(told)))


def measured(rows: DataFrame, suite: Suite) -> list[dict[str, Any]]:
    """What our own conditions do not say: Great Expectations reads the rows itself."""
    # It reads them some ten times: once from their files, then from memory, and only what is asked.
    asked = rows.select(*asked_about(suite, rows.columns)).persist()
    try:
        # Ten Spark jobs over few rows cost seconds; the same expectations over a frame in memory, a tenth of one.
        few = asked.count() <= FEW_ROWS
        return list(_validated(asked.toArrow().to_pandas() if few else asked, suite))
    finally:
        asked.unpersist()


def asked_about(suite: Suite, columns: list[str]) -> list[str]:
    """The columns that a suite says anything of; all of them where it speaks of the table as a whole."""
    told = [each.configuration.kwargs for each in suite.expectations]
    named = [
        {*each.get("column_list", ()), *(value for name, value in each.items() if name in COLUMN_ARGUMENTS)}
        for each in told
    ]
    known = [column for column in columns if column in set().union(*named)]
    return known if known and all(named) else columns


Place = Callable[[str, str], str]


def recorded(
    layout: Layout, release: str, place: Place | None = None, refusals: bool = True
) -> Callable[[DataFrame | Rows, str], GateResult]:
    """`check` that leaves a row in `control/gates`. `place` says where the rows are: candidates, unless told.

    Without `refusals` only what passed is on record: where what was refused is tried again in parts.
    """
    where_rows_are = place or layout.candidate

    def check_and_record(rows: DataFrame | Rows, table: str) -> GateResult:
        begun = perf_counter()
        result = check(rows, table)
        if not result.passed and not refusals:
            return result
        told = [json.dumps([asdict(one) for one in some]) for some in (result.failed, result.results)]
        record(
            layout,
            Checked(
                at=datetime.now(UTC),
                table=table,
                release=release,
                passed=result.passed,
                severity=result.severity,
                reason=result.reason,
                candidate=where_rows_are(release, table),
                where=result.where,
                failed=told[0],
                sample=json.dumps(result.sample),
                results=told[1],
                seconds=perf_counter() - begun,
            ),
        )
        return result

    return check_and_record


def refusal(table: str, expected: int, results: tuple[Verdict, ...]) -> str:
    """Why these results are not enough to publish; empty when they are."""
    if len(results) != expected:
        return f"{table} was judged by {len(results)} of its {expected} expectations"
    raised = [verdict.expectation for verdict in results if verdict.raised]
    if raised:
        return f"{table} could not be judged: {', '.join(raised)} raised an error"
    failed = [verdict.expectation for verdict in blocking(results)]
    return f"{table} fails {', '.join(failed)}" if failed else ""


def blocking(results: Iterable[Verdict]) -> list[Verdict]:
    return [verdict for verdict in results if not verdict.passed and verdict.severity == "critical"]


def _validated(rows: Any, suite: Suite) -> Iterable[dict[str, Any]]:
    """Of Spark's frame, or of one in memory."""
    asset = _fresh_source(isinstance(rows, DataFrame)).add_dataframe_asset(suite.name)
    batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": rows})
    # Booleans need a fifth of the Spark jobs that counts need; counts are made for what failed, by ourselves.
    told = batch.validate(suite.fresh(), result_format="BOOLEAN_ONLY").to_json_dict()
    results: list[dict[str, Any]] = told["results"]
    return results


def _fresh_source(spark: bool) -> Any:
    """Great Expectations keeps metrics by the batch's name: a second check must not find those of the first."""
    context: Any = import_module("great_expectations").get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    name = f"lake-{uuid4()}"
    # Great Expectations persists a batch and never gives the memory back.
    return context.data_sources.add_spark(name, persist=False) if spark else context.data_sources.add_pandas(name)


def _verdicts(results: Iterable[dict[str, Any]]) -> Iterable[Verdict]:
    for told in results:
        expectation = told["expectation_config"]
        raised = _error(told.get("exception_info") or {})
        yield Verdict(
            name_of(expectation),
            expectation.get("severity", "critical"),
            bool(told["success"]) and not raised,
            raised,
            str(told.get("result", {}).get("observed_value", "")),
        )


def _error(told: dict[str, Any]) -> str:
    """An error is told flat, or by metric when a metric raised."""
    if "raised_exception" in told:
        return str(told["exception_message"] or "unknown error") if told["raised_exception"] else ""
    return next((error for inner in told.values() if isinstance(inner, dict) and (error := _error(inner))), "")


def name_of(expectation: dict[str, Any]) -> str:
    """An expectation as people write it: `column_values_to_be_between(column=views, min_value=0)`."""
    shown = {name: value for name, value in expectation["kwargs"].items() if name != "batch_id" and value is not None}
    what = expectation["type"].removeprefix("expect_")
    return f"{what}({', '.join(f'{name}={value}' for name, value in shown.items())})"
