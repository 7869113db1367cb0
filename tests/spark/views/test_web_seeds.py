"""Web views built, then told more: what readers see equals plain SQL over the facts, before and after every build."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from factories.web_lake import WebLake
from oracle import web_views
from pyspark.sql import SparkSession
from unit.web.test_views_oracle import numbers, oracle, told

from domains.web.views import VIEWS
from penstock.lake.layout import Layout
from penstock.model.view import Tally, View

from .conftest import BY_SPARK, WAYS

# Spark takes seconds for a view. Without PENSTOCK_FULL: sessions, and what is made of them in new ways.
FEW = ("web.sessions", "web.funnel", "web.audience")


class Passed:
    """What a gate that likes everything answers."""

    passed, reason = True, ""


@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_views_after_builds_equal_the_oracle(spark: SparkSession, tmp_path: Path, way: str) -> None:
    views = [view for view in VIEWS if way != BY_SPARK or os.environ.get("PENSTOCK_FULL") or view.name in FEW]
    lake = WebLake(Layout(str(tmp_path / "lake")), spark)
    built: list[int] = []

    def once() -> None:
        """A build after the first epoch: the rest is told to a lake that has gold, and is late for some of it."""
        if not built:
            built.append(len(lake.build(views, lambda rows, name: Passed())))

    told(lake, 7, 900, once)
    assert built
    before = seen(lake, views)
    lake.build(views, lambda rows, name: Passed())
    assert before == seen(lake, views) == expected(lake, views)


def seen(lake: WebLake, views: Sequence[View]) -> dict[str, object]:
    reader = lake.reader()
    asked = {view.name: {"by": ",".join(view.by)} if isinstance(view, Tally) else {} for view in views}
    answers = {name: lake.answer(name, reader, limit="10000", **said).rows for name, said in asked.items()}
    kept = {name: [it for it in rows.column_names if it not in web_views.NOT_EXACT] for name, rows in answers.items()}
    return {name: numbers(rows.select(kept[name]).to_pylist()) for name, rows in answers.items()}


def expected(lake: WebLake, views: Sequence[View]) -> dict[str, object]:
    tallies = {name: web_views.tally(name) for name in web_views.TALLIES}
    asked = {**tallies, **{name: web_views.by_key(name) for name in web_views.ROWS}}
    return {view.name: numbers(oracle(lake, asked[view.name])) for view in views}
