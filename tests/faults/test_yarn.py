"""The streams' driver on a real YARN of one machine, and what becomes of it when its task, YARN or its manager fails.

Needs `make yarn`.
"""

import os
import signal
from collections.abc import Iterator

import psutil
import pytest
from operators import SECONDS, SOURCE, Operator
from standing import RunningStack, environment, eventually, running

from penstock.engine.lease import ask_to_end, leases_in
from penstock.ops.load import yarn
from penstock.ops.load.yarn import Yarn

pytestmark = [
    pytest.mark.skipif(not yarn.here(), reason="NO YARN HERE, so no driver was sent to one: `make yarn`"),
    pytest.mark.skipif(not os.environ.get("PENSTOCK_FULL"), reason="a stack whose drivers are on YARN: make faults"),
    pytest.mark.timeout(2400),
]
DAG, BUILDS = "streams", "build_views"
RECONNECTED = "Reconnecting to existing job"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    started = Yarn(tmp_path_factory.mktemp("yarn"))
    try:
        yield started.start()
    finally:
        started.stop()


@pytest.fixture(scope="module")
def stack(cluster: Yarn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """Its DAGs rest but for the streams: what runs every minute or hour is not what is asked here."""
    home = tmp_path_factory.mktemp("clustered") / "home"
    resting = {"AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True"}
    with running(home, {**environment(home), **cluster.environ(), **resting}) as stack:
        Operator(stack).wake(DAG)
        yield stack


@pytest.fixture(scope="module")
def operator(stack: RunningStack) -> Operator:
    return Operator(stack)


@pytest.fixture
def driver(cluster: Yarn, operator: Operator) -> str:
    """The only one there is, and it works."""
    assert eventually(lambda: len(cluster.running()) == 1, SECONDS)
    operator.send(5)
    (only,) = cluster.running()
    return only


def followed(cluster: Yarn, driver: str) -> bool:
    """Another driver runs, and this one does not."""
    there = cluster.running()
    return len(there) == 1 and there != [driver]


def said(stack: RunningStack, sentence: str) -> int:
    logs = (stack.home / "airflow" / "logs" / f"dag_id={DAG}").rglob("*.log")
    return sum(log.read_text(errors="replace").count(sentence) for log in logs)


def lose_task(stack: RunningStack) -> None:
    """kill -9 of the scheduler with all that it runs: the task, and Airflow's process that looks after it."""
    scheduler = psutil.Process(stack.part("scheduler")["pid"])
    for process in [scheduler, *scheduler.children(recursive=True)]:
        process.send_signal(signal.SIGKILL)


def state(cluster: Yarn, application: str) -> str:
    return next(each["finalStatus"] for each in cluster.applications() if each["id"] == application)


def built(cluster: Yarn) -> list[str]:
    """How each build ended that was sent to it."""
    return [each["finalStatus"] for each in cluster.applications() if each["name"] == f"penstock.{BUILDS}"]


def test_a_driver_on_yarn_is_found_again_by_the_next_try_of_a_task_that_was_killed(
    stack: RunningStack, cluster: Yarn, operator: Operator, driver: str
) -> None:
    lose_task(stack)
    assert eventually(lambda: said(stack, RECONNECTED) == 1, SECONDS)
    operator.send(10)
    assert [each["id"] for each in cluster.applications()] == [driver]


def test_a_clear_ends_the_driver_that_a_second_try_found_and_another_follows(
    cluster: Yarn, operator: Operator, driver: str
) -> None:
    operator.clear(operator.latest(DAG), DAG)
    assert eventually(lambda: followed(cluster, driver), SECONDS)
    operator.send(10)
    assert state(cluster, driver) == "KILLED"


def test_a_driver_that_yarn_killed_is_followed_by_one_other(cluster: Yarn, operator: Operator, driver: str) -> None:
    before = len(cluster.applications())
    cluster.end(driver)
    assert eventually(lambda: followed(cluster, driver), SECONDS)
    operator.send(10)
    assert len(cluster.applications()) == before + 1


def test_a_shift_on_yarn_ends_well_and_the_next_run_begins_another(
    stack: RunningStack, cluster: Yarn, operator: Operator, driver: str
) -> None:
    run = operator.latest(DAG)
    ask_to_end(leases_in(stack.home), [f"shape-{SOURCE}-r1"])
    assert operator.ended(run, DAG) == "success"
    assert eventually(lambda: followed(cluster, driver), SECONDS)
    operator.send(10)
    assert state(cluster, driver) == "SUCCEEDED"


def test_a_manager_that_forgot_its_applications_leaves_neither_two_drivers_nor_none(
    cluster: Yarn, operator: Operator, driver: str
) -> None:
    cluster.kill_manager()
    cluster.start_manager()
    assert eventually(lambda: followed(cluster, driver), SECONDS)
    operator.send(10)
    assert len(cluster.running()) == 1


def test_a_build_on_yarn_that_is_cleared_is_done_again(cluster: Yarn, operator: Operator, driver: str) -> None:
    operator.wake(BUILDS)
    run = operator.latest(BUILDS)
    assert operator.ended(run) == "success"
    operator.clear(run)
    assert operator.ended(run) == "success"
    assert built(cluster) == ["SUCCEEDED", "SUCCEEDED"]


def test_a_build_that_its_gate_refuses_on_yarn_is_not_tried_again(
    cluster: Yarn, operator: Operator, driver: str
) -> None:
    before = built(cluster)
    operator.break_silver()
    run = operator.build()
    assert operator.ended(run) == "failed"
    assert built(cluster) == [*before, "FAILED"]


def test_a_stack_that_is_stopped_leaves_no_driver_on_yarn(stack: RunningStack, cluster: Yarn, driver: str) -> None:
    assert stack.penstock("down").returncode == 0
    assert eventually(lambda: cluster.running() == [], SECONDS)
