"""Five builds of one bad day on the one stack of the tests; fifty are `make faults` (faults/test_backfill.py).

Only there a scheduler dies: Airflow takes five minutes to miss its tasks, and whoever comes next would wait for them.
"""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from random import Random

import psutil
import pytest
from disturbing import UNDER_WAY, by_hand, cleared, killed, well
from operators import SECONDS, Operator
from standing import RunningStack, eventually

# Of a day that no other test builds.
DAY = datetime.now(UTC).date() - timedelta(days=3)


@pytest.fixture(scope="module")
def operator(stack: RunningStack) -> Operator:
    return Operator(stack)


@pytest.fixture
def late(operator: Operator) -> date:
    """The day of a fact that came late."""
    operator.late(DAY)
    return DAY


@contextmanager
def asleep(operator: Operator, day: date, chance: Random) -> Iterator[None]:
    """A build by hand stands still somewhere in its middle, and goes on when others have done its work."""
    build = by_hand(operator, str(day))
    time.sleep(UNDER_WAY / 2 + chance.random() * UNDER_WAY)
    main = psutil.Process(build.pid)
    processes = [main, *main.children(recursive=True)]
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()
        well(build)


def test_a_late_fact_counts_once_although_each_of_five_builds_of_its_day_is_disturbed(
    operator: Operator, late: date
) -> None:
    chance, before = Random(7), operator.days()  # noqa: S311
    with asleep(operator, late, chance):
        run = operator.build(**{"from": str(late), "to": str(late)})
        killed(operator, run, chance)
        assert eventually(lambda: not operator.working("build_views"), SECONDS)
        twin = by_hand(operator, str(late))
        cleared(operator, run, chance)
        killed(operator, run, chance)
        assert operator.ended(run) == "success"
        well(twin)
    assert operator.days() == before + Counter([late])
