"""Airflow is down while hours pass: what came meanwhile is in final numbers soon after it is back, hour by hour."""

import os
import time
import xmlrpc.client
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable
from operators import SECONDS, SOURCE, VIEW, Operator, shown
from standing import RunningStack, eventually
from supervisor.xmlrpc import SupervisorTransport

from penstock.lake.layout import FIRST_RELEASE
from penstock.lake.publication import publications
from penstock.ops.bench.orchestration import timed_by_senders
from penstock.ops.rig import send
from penstock.ops.stack.home import open_home

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PENSTOCK_FULL"), reason="four minutes: make faults"),
    pytest.mark.timeout(1500),
]

PARTS = ("triggerer", "dag-processor", "scheduler", "api-server")
HOURS, RECORDS = 4, 300
# Longer than any of Airflow's tasks waits for its server before it gives up.
DOWN = float(os.environ.get("PENSTOCK_DOWN_SECONDS", "120"))


@pytest.fixture(scope="module")
def operator(stack: RunningStack) -> Operator:
    """With some facts of now, built."""
    operator = Operator(stack)
    operator.send(20)
    assert operator.ended(operator.build()) == "success"
    timed_by_senders(stack.environ["PENSTOCK_KAFKA"])
    return operator


@contextmanager
def without_airflow(stack: RunningStack) -> Iterator[None]:
    """Its four parts are stopped as an administrator would for a maintenance, and come back."""
    transport = SupervisorTransport(None, None, f"unix://{open_home(stack.home).socket}")
    supervisor = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport).supervisor
    for part in PARTS:
        supervisor.stopProcess(f"work:{part}")
    try:
        yield
    finally:
        for part in PARTS:
            supervisor.startProcess(f"work:{part}", False)
        transport.close()
    assert eventually(lambda: all(stack.part(part)["state"] == "well" for part in PARTS), SECONDS)


def hours() -> list[datetime]:
    """The last whole hours, oldest first."""
    this = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    return [this - timedelta(hours=back) for back in range(HOURS, 0, -1)]


def passing(kafka: str, hour: datetime) -> None:
    """An hour's records, as if it had passed meanwhile."""
    producer = Producer({"bootstrap.servers": kafka, "acks": "all", "log_level": 0})
    for number in range(RECORDS):
        send(producer, number, hour.timestamp() + 3599 * number / RECORDS)
    producer.flush()


def told(operator: Operator) -> list[dict[str, Any]]:
    """Asset events of complete hours of the source, in the order in which they were told."""
    events = operator.ask("GET", "/assets/events?limit=200&order_by=-timestamp")["asset_events"]
    of_source = (each for each in events if each["extra"].get("source") == SOURCE and each["extra"]["complete"])
    return sorted(of_source, key=lambda each: each["id"])


def of(events: list[dict[str, Any]], wanted: list[datetime]) -> list[tuple[datetime, int]]:
    said = [(datetime.fromisoformat(each["extra"]["hour"]), each["extra"]["records"]) for each in events]
    return [each for each in said if each[0] in wanted]


def test_hours_that_passed_without_airflow_are_built_in_order_once_it_is_back(
    operator: Operator, stack: RunningStack
) -> None:
    before, published, passed = operator.facts(), operator.published(), hours()
    known = {each["id"] for each in told(operator)}
    with without_airflow(stack):
        for hour in passed:
            passing(stack.environ["PENSTOCK_KAFKA"], hour)
            time.sleep(DOWN / HOURS)
    came = HOURS * RECORDS
    assert eventually(lambda: operator.facts() == before + came, SECONDS), "the streams did not go on"
    assert eventually(lambda: operator.published() == published + came, SECONDS), "the builds did not catch up"

    events = [each for each in told(operator) if each["id"] not in known]
    assert of(events, passed) == [(hour, RECORDS) for hour in passed]
    runs = operator.ask("GET", "/dags/build_views/dagRuns?run_type=asset_triggered&limit=100")["dag_runs"]
    assert runs and {operator.ended(run["dag_run_id"]) for run in runs} == {"success"}
    # The newest first: no build took the numbers back to an earlier position.
    cuts = [said.cut[SOURCE] for said in publications(DeltaTable(operator.layout.gold(FIRST_RELEASE, VIEW)))]
    assert cuts == sorted(cuts, reverse=True)


def test_the_numbers_are_those_of_a_clean_build(operator: Operator) -> None:
    published = shown(operator)
    assert operator.ended(operator.build(full=True)) == "success"
    assert shown(operator) == published
