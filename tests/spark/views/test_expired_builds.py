"""Spark's plans leave rollups alone whose facts have expired, and go on from them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from toy_lake import ToyLake, answers, fact, traffic

from penstock.engine.expiring import Books, expire
from penstock.lake import exact
from penstock.lake.layout import Layout
from penstock.model.retention import Retention

from .conftest import BY_SPARK

NIGHT = datetime(2026, 4, 4, 3, tzinfo=UTC)
EPOCHS = [traffic(0, 30), traffic(1, 30)]
# What everybody did before the midnight up to which rollups are kept goes on after it.
NEWS = [fact(f"v{who}", 2880 + minutes, amount=7) for who in range(6) for minutes in (1, 20)]


@pytest.mark.parametrize("way", [BY_SPARK], indirect=True)
def test_in_full_and_of_asked_days_all_answers_are_as_if_nothing_had_expired(
    lake: ToyLake, way: str, tmp_path: Path
) -> None:
    for facts in EPOCHS:
        lake.epoch(facts)
    lake.build()
    exact.note(lake.layout, lake.release, "toy.events", 1)
    for hours in (0, 2):
        expire(Books(lake.layout, lake.release, Retention(lake.domain.sources[0], 31), NIGHT + timedelta(hours=hours)))
    lake.epoch(NEWS)
    lake.build(full=True)
    once = answers(lake)
    lake.build(days=(NIGHT.date() - timedelta(days=33), NIGHT.date() - timedelta(days=31)))
    never = ToyLake(lake.spark, Layout(str(tmp_path / "never")), lake.domain)
    for facts in (*EPOCHS, NEWS):
        never.epoch(facts)
    never.build()
    assert (once, answers(lake)) == (answers(never), answers(never))
