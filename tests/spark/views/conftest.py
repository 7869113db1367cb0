"""The toy domain on the path, and a lake of it."""

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.lake.layout import Layout
from penstock.model.domain import Domain, domains

TESTS = Path(__file__).parents[2]
sys.path.insert(0, str(TESTS / "factories"))

from toy_lake import ToyLake  # noqa: E402


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Domain:
    monkeypatch.syspath_prepend(TESTS / "toy")
    domains.cache_clear()
    return domains()["toy"]


@pytest.fixture
def lake(spark: SparkSession, toy: Domain, tmp_path: Path) -> ToyLake:
    return ToyLake(spark, Layout(str(tmp_path / "lake")), toy)
