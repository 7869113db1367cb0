"""Builds in both ways: as many facts as a test has are few, and few need no job of Spark's."""

import pytest

from penstock.engine import daily, increment

BY_SPARK = "by Spark"
WAYS = ("in memory", BY_SPARK)


@pytest.fixture
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The way that a test's parameter names."""
    if request.param == BY_SPARK:
        by_spark(monkeypatch)
    return str(request.param)


def by_spark(settings: pytest.MonkeyPatch) -> None:
    for module, most in ((increment, "MANY_ROWS"), (increment, "FEW_ROWS"), (daily, "FEW_ROWS")):
        settings.setattr(module, most, -1)
