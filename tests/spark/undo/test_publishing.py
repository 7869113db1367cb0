"""Each publish leaves a restore point to go back to, with the hash of the code that was deployed."""

import runpy
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from toy_lake import Passed, ToyLake, fact

from penstock.engine import gate
from penstock.lake import code, session
from penstock.lake.restore_points import points
from penstock.settings import Settings

BUILD = Path(__file__).parents[3] / "spark_jobs" / "build_views.py"


def test_a_build_that_published_takes_a_restore_point_and_one_that_did_not_takes_none(
    lake: ToyLake, settings: Settings, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.epoch([fact()])
    monkeypatch.setattr(session, "open_session", lambda *_, **__: spark)
    monkeypatch.setattr(gate, "recorded", lambda *_, **__: lambda rows, name: Passed())
    monkeypatch.setattr(sys, "argv", ["build_views", "--domain=toy"])
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    assert [runpy.run_path(str(BUILD))["main"]() for _ in range(2)] == [0, 0]
    (point,) = points(lake.layout)
    assert (point.kind, {name for name in point.tables if name.startswith("gold/")}) == (
        "publish",
        {f"gold/r1/{view.name}" for view in lake.domain.views},
    )
    assert point.code == {"web": code.pin(lake.layout, "web", code.files_of("", "web")[1])}
