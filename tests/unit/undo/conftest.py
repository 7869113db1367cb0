"""A lake of the toy domain that needs no JVM: its epochs are written by hand."""

from pathlib import Path

import pytest
from toy_lake import ToyLake, fact

from penstock.lake.layout import Layout
from penstock.model.domain import Domain


@pytest.fixture
def lake(toy: Domain, tmp_path: Path) -> ToyLake:
    """Three facts in two epochs."""
    lake = ToyLake(None, Layout(str(tmp_path / "lake")), toy)
    lake.epoch([fact("ann", 0), fact("bob", 3, "buy", 60)])
    lake.epoch([fact("ann", 9, "buy", 7)])
    return lake
