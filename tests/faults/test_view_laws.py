"""Ten thousand random cases of every measure's laws, in the reader's engine."""

import pytest
from laws import broken_laws, in_duckdb


@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_cases_keep_the_laws(seed: int) -> None:
    assert broken_laws(seed, 1_000, in_duckdb, in_duckdb, "folds") == []
