"""A lake of the toy domain that needs no JVM: its epochs are written by hand."""

import sys
from pathlib import Path

import pytest

from penstock.lake.layout import Layout
from penstock.model.domain import domains

TESTS = Path(__file__).parents[2]
sys.path.insert(0, str(TESTS / "factories"))

from toy_lake import ToyLake, fact  # noqa: E402


@pytest.fixture
def lake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ToyLake:
    """Three facts in two epochs."""
    monkeypatch.syspath_prepend(TESTS / "toy")
    domains.cache_clear()
    lake = ToyLake(None, Layout(str(tmp_path / "lake")), domains()["toy"])
    lake.epoch([fact("ann", 0), fact("bob", 3, "buy", 60)])
    lake.epoch([fact("ann", 9, "buy", 7)])
    return lake
