"""Two drivers on one machine: each group's ends, dies and is taken over by itself."""

import os
import signal
import time
from collections.abc import Iterator

import pytest
from operators import SECONDS, SOURCE, Operator
from standing import RunningStack, environment, eventually, running

from penstock.engine.lease import ask_to_end, leases_in
from penstock.engine.progress import read

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PENSTOCK_FULL"), reason="a stack with two drivers: make faults"),
    pytest.mark.timeout(1500),
]
OWN, REST = f"shape-{SOURCE}", "shape-web.users"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    home = tmp_path_factory.mktemp("groups") / "home"
    with running(home, {**environment(home), "PENSTOCK_STREAM_GROUPS": f"clicks={SOURCE}"}) as stack:
        assert eventually(
            lambda: {OWN, REST} <= {one["job"] for one in read(home) if one["state"] == "running"}, SECONDS
        )
        yield stack


def drivers(stack: RunningStack) -> dict[str, int]:
    """The process that runs each stream."""
    return {one["job"]: one["pid"] for one in read(stack.home)}


def end(stack: RunningStack) -> None:
    """The shift of the group's driver ends."""
    ask_to_end(leases_in(stack.home), [f"{OWN}-r1"])


def test_a_groups_shift_ends_and_the_others_driver_goes_on(stack: RunningStack) -> None:
    before = drivers(stack)
    assert before[OWN] != before[REST]
    end(stack)
    assert eventually(lambda: drivers(stack)[OWN] != before[OWN], SECONDS)
    Operator(stack).send(10)
    assert drivers(stack)[REST] == before[REST]


def test_a_task_whose_scheduler_was_killed_waits_for_its_driver_and_takes_over(stack: RunningStack) -> None:
    def waits() -> bool:
        logs = (stack.home / "airflow" / "logs" / "dag_id=streams_clicks").rglob("*.log")
        return any("This task begins when it lets go" in log.read_text(errors="replace") for log in logs)

    driver = drivers(stack)[OWN]
    os.kill(stack.part("scheduler")["pid"], signal.SIGKILL)
    assert eventually(waits, SECONDS)
    # As long as it lives it works, and nobody begins a JVM beside it.
    time.sleep(15)
    assert (drivers(stack)[OWN], len(Operator(stack).working("stream"))) == (driver, 4)
    end(stack)
    assert eventually(lambda: drivers(stack)[OWN] != driver, SECONDS)
    Operator(stack).send(10)
