"""A log of the toy domain, its live release, and replays of it in the session that the tests share."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from toy_code import TOY, changed_code
from toy_lake import Passed
from toy_log import ToyLog

from penstock.engine.releasing import replayed, shaped
from penstock.lake import replays
from penstock.lake.code import unpacked
from penstock.lake.layout import Layout
from penstock.lake.releases import Release
from penstock.model.domain import Domain, code
from penstock.settings import Settings


@pytest.fixture
def log(spark: SparkSession, toy: Domain, settings: Settings) -> ToyLog:
    return ToyLog(spark, Layout(settings.lake))


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, str, str], str]:
    return lambda file, old, new: changed_code(tmp_path, file, old, new)


@pytest.fixture
def replay(spark: SparkSession, settings: Settings, toy: Domain) -> Callable[..., Release]:
    """Replays the toy domain as the job does: silver alone, which takes seconds, or views as well."""
    layout = Layout(settings.lake)

    def run(where: str = str(TOY), views: bool = False, **more: str) -> Release:
        asked = replays.Asked("toy", where, who="lina", why="the rule was wrong", operation="replay/1", **more)
        release = replays.begin(layout, settings.home, asked)
        with code(unpacked(layout, settings.home, "toy", release.hash)):
            if views:
                replayed(spark, settings, release, lambda rows, name: Passed())
            else:
                shaped(spark, settings, release)
        return release

    return run
