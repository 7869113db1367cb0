"""Every measure keeps the laws in the reader's engine; tests/spark and tests/faults have Spark and more cases."""

from laws import broken_laws, in_duckdb


def test_every_measure_keeps_the_laws_in_duckdb() -> None:
    assert broken_laws(1, 300, in_duckdb, in_duckdb, "folds") == []
