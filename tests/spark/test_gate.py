"""What the gate lets through, what it stops, and what it tells about it."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import DataFrame, SparkSession
from toy_lake import fact, silver_rows

from penstock.engine.counting import Framed, Written
from penstock.engine.gate import Verdict, _validated, _verdicts, check, judged, refusal
from penstock.engine.suites import PROJECT, NoSuite, suite_of

TOY = Path(__file__).parents[1] / "toy"
GOOD = {"id": 1, "amount": 5, "kind": "a", "started": 1, "ended": 2, "path": "/", "who": "ada"}
TYPES = "id bigint, amount bigint, kind string, started bigint, ended bigint, path string, who string"


pytestmark = pytest.mark.usefixtures("toy")


def numbers(spark: SparkSession, *changes: dict[str, object]) -> DataFrame:
    return spark.createDataFrame([{**GOOD, **change} for change in changes], TYPES)


def test_good_rows_pass(spark: SparkSession) -> None:
    result = check(numbers(spark, {}, {"id": 2}), "toy.numbers")
    assert (result.passed, result.reason, len(result.results)) == (True, "", 5)


@pytest.mark.parametrize(
    ("broken", "where"),
    [
        ({"id": None}, '("id" is null)'),
        ({"amount": 101}, '("amount" < 0 or "amount" > 100)'),
        ({"ended": 0}, '("ended" < "started")'),
    ],
)
def test_a_critical_failure_blocks_and_finds_its_rows(
    spark: SparkSession, broken: dict[str, object], where: str
) -> None:
    result = check(numbers(spark, {}, broken), "toy.numbers")
    assert (result.passed, result.where, len(result.sample)) == (False, where, 1)


def test_a_second_check_of_a_table_looks_at_its_own_rows(spark: SparkSession) -> None:
    rows = [numbers(spark, {}), numbers(spark, {"amount": -1}), numbers(spark, {})]
    assert [check(each, "toy.numbers").passed for each in rows] == [True, False, True]


def test_the_same_frame_is_read_again_by_each_check(spark: SparkSession, tmp_path: Path) -> None:
    numbers(spark, {}).write.format("delta").save(f"{tmp_path}/t")
    rows = spark.read.format("delta").load(f"{tmp_path}/t")
    first = check(rows, "toy.numbers").passed
    numbers(spark, {"amount": -1}).write.format("delta").mode("append").save(f"{tmp_path}/t")
    assert (first, check(spark.read.format("delta").load(f"{tmp_path}/t"), "toy.numbers").passed) == (True, False)


@pytest.mark.parametrize(("broken", "severity"), [({"kind": "c"}, "warning"), ({"path": "x"}, "info")])
def test_lesser_failures_publish_and_say_so(spark: SparkSession, broken: dict[str, object], severity: str) -> None:
    result = check(numbers(spark, broken), "toy.numbers")
    assert (result.passed, result.severity, len(result.failed)) == (True, severity, 1)


def test_a_sample_has_three_rows_and_nobody_s_name(spark: SparkSession) -> None:
    result = check(numbers(spark, *({"id": each, "amount": -1} for each in range(9))), "toy.numbers")
    assert [row["who"] for row in result.sample] == ["•••"] * 3


def test_a_sample_shows_no_sketch(spark: SparkSession) -> None:
    rows = numbers(spark, {"amount": -1}).selectExpr("*", "cast('v7' as binary) as visitors__hll")
    assert check(rows, "toy.numbers").sample[0]["visitors__hll"] == "•••"


ROWS = ({}, {"id": None}, {"amount": -1, "kind": None}, {"kind": "c", "path": "x/"}, {"ended": 0}, {"ended": None},
        {"started": None, "ended": None, "path": None, "amount": None})  # fmt: skip


def test_counts_give_the_verdicts_that_great_expectations_gives_itself(spark: SparkSession, tmp_path: Path) -> None:
    """Counted in Spark and from files, and measured by Great Expectations: for every way in which rows are broken."""
    suite, told = suite_of("toy.numbers"), {}
    for number, change in enumerate(ROWS):
        rows = pa.Table.from_pylist([GOOD, {**GOOD, **change}])
        write_deltalake(f"{tmp_path}/{number}", rows)
        own = [
            judged(seen, suite)[1]
            for seen in (Framed(spark.createDataFrame(rows)), Written(spark, f"{tmp_path}/{number}"))
        ]
        told[number] = [
            [one.passed for one in verdicts] for verdicts in (*own, [*_verdicts(_validated(rows.to_pandas(), suite))])
        ]
    assert all(first == second == third for first, second, third in told.values()), told


def test_a_source_is_judged_from_its_files_alone(tmp_path: Path) -> None:
    """Silver has an `offset`, a word of DuckDB's own: once all sources were read ten times over by Spark instead."""
    write_deltalake(f"{tmp_path}/silver", silver_rows([fact()], 0, 0))
    count, verdicts = judged(Written(None, f"{tmp_path}/silver"), suite_of("toy.events"))  # type: ignore[arg-type]
    assert (count, [one for one in verdicts if not one.passed]) == (1, [])


def test_a_condition_that_does_not_fit_its_column_is_told_and_not_passed_over(spark: SparkSession) -> None:
    result = check(numbers(spark, {}).selectExpr("'many' as amount", "* except (amount)"), "toy.numbers")
    assert not result.passed


def test_no_rows_prove_nothing(spark: SparkSession) -> None:
    assert "no rows" in check(numbers(spark, {}).limit(0), "toy.numbers").reason


def test_no_rows_are_fine_where_the_suite_says_so(spark: SparkSession) -> None:
    assert check(numbers(spark, {}).limit(0), "toy.rare").passed


def test_an_expectation_that_raises_is_a_failure(spark: SparkSession) -> None:
    result = check(numbers(spark, {}), "toy.misspelt")
    assert (result.passed, "could not be judged" in result.reason) == (False, True)


def test_fewer_results_than_expectations_are_a_failure() -> None:
    assert "1 of its 2" in refusal("toy.numbers", 2, (Verdict("present", "critical", True),))


def test_a_table_without_a_suite_is_refused_with_the_way_out(spark: SparkSession) -> None:
    with pytest.raises(NoSuite, match=r"Write expectations/toy_unheard\.py"):
        check(numbers(spark, {}), "toy.unheard")


def test_a_gate_leaves_nothing_in_the_session_s_memory(spark: SparkSession) -> None:
    persisted = spark.sparkContext._jsc.getPersistentRDDs
    before = len(persisted())
    check(numbers(spark, {}), "toy.numbers")
    assert len(persisted()) == before


@pytest.mark.parametrize("table", sorted(path.stem for path in (PROJECT / "expectations").glob("*.py")))
def test_every_suite_loads_under_its_table_s_name(table: str) -> None:
    assert suite_of(table).name.replace(".", "_") == table
