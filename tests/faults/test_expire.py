"""A night's `expire` on a running Airflow, killed in the middle of the days that it empties, and cleared."""

import os
import signal
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from deltalake import DeltaTable
from operators import SECONDS, SOURCE, Operator, post
from standing import RunningStack, environment, eventually, running

from penstock.lake import audit, retention
from penstock.lake.layout import FIRST_RELEASE
from penstock.lake.retention import ANNOUNCED, EMPTIED, KEPT, Expiry, expiries
from penstock.model.domain import source, views_of
from penstock.model.retention import reach
from penstock.serve.question import EARLIEST, LARGEST_LIMIT, LATEST, Question
from penstock.serve.reader import Reader

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PENSTOCK_FULL"), reason="a night of a whole stack: make faults"),
    pytest.mark.timeout(1500),
]
KEEPS, OLD = 31, 90
NOW = datetime.now(UTC)
# The last day whose facts the setting keeps no longer, and so many before it: a commit each.
DUE = NOW.date() - timedelta(days=KEEPS + 1)
DAYS = [DUE - timedelta(days=each) for each in range(OLD)]


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """Two page views of each old day, which are built and compared; nothing runs but streams, and what is started."""
    home = tmp_path_factory.mktemp("expire") / "home"
    resting = {"AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True"}
    keeping = {"PENSTOCK_RETENTION": f"silver/{SOURCE}={KEEPS}"}
    with running(home, {**environment(home), **resting, **keeping}) as stack:
        operator = Operator(stack)
        operator.wake("streams")
        tell(stack)
        assert eventually(lambda: operator.facts() == 2 * OLD, SECONDS)
        for dag in ("build_views", "close_day"):
            operator.wake(dag)
            assert operator.ended(operator.start(dag), dag) == "success"
        yield operator


def tell(stack: RunningStack) -> None:
    event = {"type": "pageview", "site": "a.example", "url": "https://a.example/x"}
    moments = [f"{day}T{hour}:00:00Z" for day in DAYS for hour in ("08", "20")]
    post(
        stack.url("collector", f"/v1/{SOURCE}"),
        [{**event, "visitor": f"v{number}", "happened_at": moment} for number, moment in enumerate(moments)],
    )


def announce(operator: Operator) -> None:
    """What the night before has written: the notice that it gives is over by now."""
    since = NOW - timedelta(hours=2)
    retention.note(operator.layout, Expiry(SOURCE, FIRST_RELEASE, ANNOUNCED, DUE, since, since))


def steps(operator: Operator) -> list[str]:
    return [each.step for each in expiries(operator.layout, FIRST_RELEASE, SOURCE)]


def whole(operator: Operator) -> set[date]:
    """Days of which silver still says what happened."""
    silver = DeltaTable(operator.layout.silver(FIRST_RELEASE, SOURCE)).to_pyarrow_table(columns=["day", "event_id"])
    return {row["day"] for row in silver.to_pylist() if row["event_id"]}


def answers(operator: Operator) -> dict[str, Any]:
    """Of every view of the source, all of it."""
    reader = Reader(operator.layout)
    reader.refresh()
    asked = [Question(view, EARLIEST, LATEST, limit=LARGEST_LIMIT) for view in views_of(source(SOURCE))]
    return {each.view.name: sorted(map(str, reader.answer(each).rows.to_pylist())) for each in asked}


def test_a_night_that_was_killed_among_the_days_it_empties_is_cleared_and_every_answer_stays(
    operator: Operator,
) -> None:
    announce(operator)
    before = answers(operator)
    operator.wake("maintain")
    run = operator.latest("maintain")
    assert eventually(lambda: KEPT in steps(operator) and len(whole(operator)) < OLD, SECONDS)
    task = operator.ask("GET", f"/dags/maintain/dagRuns/{run}/taskInstances/expire")
    os.kill(task["pid"], signal.SIGKILL)
    assert len(whole(operator)) > reach(source(SOURCE)) and EMPTIED not in steps(operator)
    operator.clear(run, "maintain", "expire")
    assert operator.ended(run, "maintain") == "success"
    assert (len(whole(operator)), steps(operator)) == (reach(source(SOURCE)), [ANNOUNCED, KEPT, EMPTIED])
    assert answers(operator) == before
    assert {entry.after["step"] for entry in audit.entries(operator.layout, SOURCE)} == set(steps(operator))
