"""What comes in is judged before it is called final."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession
from toy_lake import ToyLake, fact

from penstock.engine import intake
from penstock.engine.gate import recorded
from penstock.lake.layout import FIRST_RELEASE
from penstock.lake.session import once_needed


def sent(count: int, wrong: int) -> Iterator[dict[str, Any]]:
    """A thousand records in all are enough for a share to say something."""
    yield from (fact(f"v{number}", number) for number in range(count - wrong))
    yield from (fact(minutes=number) | {"disposition": "rejected", "reason": "malformed"} for number in range(wrong))


def refused(lake: ToyLake, spark: SparkSession | None = None) -> dict[str, str]:
    judge = recorded(lake.layout, FIRST_RELEASE, lake.layout.silver)
    return intake.refused(spark or lake.spark, lake.layout, FIRST_RELEASE, lake.domain.views, judge)


@pytest.mark.parametrize(
    ("count", "wrong", "sick"),
    [(1_000, 50, True), (1_000, 20, False), (20, 1, False)],
    ids=["5 %", "2 %", "one of few"],
)
def test_a_sender_that_broke_is_caught_and_noise_is_not(lake: ToyLake, count: int, wrong: int, sick: bool) -> None:
    lake.epoch(sent(count, wrong))
    assert bool(refused(lake)) == sick


def test_only_what_came_since_the_last_build_is_judged(lake: ToyLake) -> None:
    lake.epoch(sent(1_000, 50))
    before = refused(lake)
    lake.build()
    lake.epoch(sent(1_000, 0))
    assert (len(before), refused(lake)) == (1, {})


@pytest.mark.parametrize(("few", "times"), [(999, 1), (1_000, 0)], ids=["many rows", "few"])
def test_a_session_that_will_be_needed_is_opened_beside_the_judgement(
    lake: ToyLake, monkeypatch: pytest.MonkeyPatch, few: int, times: int
) -> None:
    monkeypatch.setattr(intake, "FEW_ROWS", few)
    opened: list[SparkSession] = []

    def opening() -> SparkSession:
        opened.append(lake.spark)
        return lake.spark

    lake.epoch(sent(1_000, 0))
    refused(lake, once_needed(opening))
    for beside in (thread for thread in threading.enumerate() if thread.name == "session"):
        beside.join()
    assert len(opened) == times
