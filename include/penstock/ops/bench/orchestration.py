"""What Airflow adds to the work, and how soon people have final numbers or an alert: on a whole stack of its own.

An hour that is over is made by records that say they were logged in it: everything that follows is the product's.
"""

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource  # type: ignore[attr-defined]
from deltalake import DeltaTable, write_deltalake

from penstock.cockpit import Cockpit
from penstock.engine.progress import read
from penstock.lake.files import size_of
from penstock.lake.gates import refusals
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.publication import cut_of
from penstock.ops.airflow.environment import PROJECT
from penstock.ops.bench import Figure, submit
from penstock.ops.bench.rebuild import counted
from penstock.ops.bench.submit import airflow, until
from penstock.ops.load.idle_dag import TASKS
from penstock.ops.rig import TOPIC, send
from penstock.ops.stack import orphans
from penstock.ops.stack.home import open_home
from penstock.settings import Settings

NAME = "orchestration"
NEEDED = ("collector", "broker", "api-server", "scheduler", "dag-processor")
WATCH, BUILDS, STREAMS = "stream_watch", "build_views", "streams"
VIEW = "web.pageviews"
# `stream_watch` looks each minute: an hour that is complete right after a look waits this long for the next.
LOOK = 60.0
# An hour at 1,000 a second, or a minute of it.
RECORDS, QUICK_RECORDS = 3_600_000, 60_000


def run(quick: bool) -> Iterator[Figure]:
    """Quick: a minute's records for the hour, and no stalled stream, which takes two minutes to be one."""
    records = int(os.environ.get("PENSTOCK_BENCH_FACTS", QUICK_RECORDS if quick else RECORDS))
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder, airflow(Path(folder, "home"), NEEDED) as settings:
        cockpit = Cockpit(settings, "admin")
        until(
            lambda: submit.durations(cockpit).keys() >= {"idle", submit.DAG, WATCH, BUILDS, STREAMS},
            "the DAG files to be read",
        )
        yield idle(cockpit)
        yield submit.overhead(NAME, cockpit, settings, 2 if quick else 5)
        yield closed_hour(settings, cockpit, records)
        if not quick:
            yield stalled(settings)
        yield refused(settings, cockpit)


def idle(cockpit: Cockpit) -> Figure:
    """Of tasks that do nothing, from when each one's process says that it runs."""
    cockpit.unpause("idle")
    begun = cockpit.trigger("idle", {})
    until(lambda: cockpit.state(begun).over, "the idle tasks' end")
    tasks = cockpit.get(f"/dags/idle/dagRuns/{begun.id}/taskInstances")["task_instances"]
    times = sorted((moment(task["start_date"]), moment(task["end_date"])) for task in tasks)
    took = [round(end - start, 2) for start, end in times]
    between = [round(later[0] - earlier[1], 2) for earlier, later in pairwise(times)]
    return Figure(
        NAME,
        f"seconds of a task that does nothing, median of {TASKS}",
        statistics.median(took),
        goal="<= 1.0 s",
        gate_ok=[task["state"] for task in tasks] == ["success"] * TASKS,
        detail={"all": took, "from one's end to the next one's start": between},
    )


def closed_hour(settings: Settings, cockpit: Cockpit, records: int) -> Figure:
    """From the end of an hour to its published numbers, if a look has just missed it."""
    layout = Layout(settings.lake)
    # A fresh home's first run finds nothing and must not be the one that is measured.
    cockpit.unpause(BUILDS)
    until(lambda: bool(cockpit.get(f"/dags/{BUILDS}/dagRuns?state=success")["total_entries"]), "the first run")
    cockpit.unpause(STREAMS)
    until(lambda: any(said["state"] == "running" for said in read(settings.home)), "the streams")
    begun = time.time()
    fill(settings.kafka, records)
    silver = layout.silver(FIRST_RELEASE, TOPIC)
    until(lambda: rows(silver) >= records, "the hour's facts")
    shaped = time.time()
    last = pc.max(DeltaTable(silver).to_pyarrow_table(columns=["epoch"])["epoch"]).as_py()
    # Not before: it would take an hour that just fills for one that is over.
    cockpit.unpause(WATCH)
    until(lambda: cut_of(layout, FIRST_RELEASE, VIEW, TOPIC) >= last, "the hour's numbers")
    published = time.time()
    told = announced(cockpit)
    looked = moment(cockpit.get(f"/dags/{WATCH}/dagRuns/{told['source_run_id']}")["queued_at"])
    counts = (told["extra"]["records"], counted(layout))
    return Figure(
        NAME,
        "seconds from an hour's end to its gated numbers, with a whole minute until the next look",
        round(LOOK + published - looked, 1),
        goal="<= 120 s",
        gate_ok=told["extra"]["complete"] and counts == (records, records),
        detail={
            "records sent, archived and counted": (records, *counts),
            "seconds from sent to silver": round(shaped - begun, 1),
            "seconds from the look to the build's asset event": round(moment(told["timestamp"]) - looked, 1),
            "seconds from the event to the numbers": round(published - moment(told["timestamp"]), 1),
        },
    )


def fill(kafka: str, records: int) -> None:
    """The last whole hour, as if its records had come over all of it."""
    timed_by_senders(kafka)
    producer = Producer({"bootstrap.servers": kafka, "acks": "all", "linger.ms": 5, "log_level": 0})
    ended = datetime.now(UTC).replace(minute=0, second=0, microsecond=0).timestamp()
    for number in range(records):
        send(producer, number, ended - 1 - number % 3599)
    producer.flush()


def timed_by_senders(kafka: str) -> None:
    """A record was logged when its producer says so: else nobody could make an hour that is over."""
    topic = ConfigResource(ConfigResource.Type.TOPIC, TOPIC)
    own = ConfigEntry("message.timestamp.type", "CreateTime", incremental_operation=AlterConfigOpType.SET)
    topic.add_incremental_config(own)
    admin = AdminClient({"bootstrap.servers": kafka})
    for done in admin.incremental_alter_configs([topic]).values():
        done.result()


def announced(cockpit: Cockpit) -> dict[str, Any]:
    """The newest asset event about an hour of the source."""
    events = cockpit.get("/assets/events?limit=50&order_by=-timestamp")["asset_events"]
    return next(event for event in events if event["extra"].get("source") == TOPIC)


def stalled(settings: Settings) -> Figure:
    """From the moment at which the driver stands still to the alert."""
    driver = orphans.processes(open_home(settings.home).stack, str(PROJECT / "spark_jobs" / "stream.py"))
    for process in driver:
        process.suspend()
    begun = time.time()
    try:
        told = heard(settings, lambda title: "stream stalled" in title, begun)
    finally:
        for process in driver:
            process.resume()
    what = "seconds from a stalled stream to its alert"
    return Figure(NAME, what, round(told - begun, 1), goal="<= 120 s", gate_ok=bool(driver))


def refused(settings: Settings, cockpit: Cockpit) -> Figure:
    """From a gate's verdict to the alert, with a page view of no site in silver."""
    layout, begun = Layout(settings.lake), datetime.now(UTC)
    silver = layout.silver(FIRST_RELEASE, TOPIC)
    fact = DeltaTable(silver).to_pyarrow_table(filters=[("disposition", "=", "fact")]).slice(0, 1)
    wrong = {**fact.to_pylist()[0], "site": None, "event_id": "wrong", "epoch": fact["epoch"][0].as_py() + 1_000_000}
    write_deltalake(silver, pa.Table.from_pylist([wrong], fact.schema), mode="append")
    asked = cockpit.trigger(BUILDS, {"domain": "web"})
    told = heard(settings, lambda title: f"{BUILDS}: DataRefused" in title, begun.timestamp())
    until(lambda: cockpit.state(asked).over, "the refused build's end")
    last = max(checked.at for checked in refusals(layout.root, begun)).timestamp()
    return Figure(
        NAME,
        "seconds from a gate's refusal to its alert",
        round(told - last, 1),
        goal="<= 15 s",
        gate_ok=cockpit.state(asked).state == "failed",
    )


def heard(settings: Settings, wanted: Callable[[str], bool], since: float) -> float:
    """When the first such message went out."""
    file, found = settings.home / "logs" / "alerts.jsonl", list[float]()

    def told() -> bool:
        messages: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()]
        found.extend(one["at"] for one in messages if one["at"] >= since and wanted(one["title"]))
        return bool(found)

    until(lambda: file.exists() and told(), "the alert")
    return found[0]


def rows(table: str) -> int:
    return size_of(table)[0]


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
