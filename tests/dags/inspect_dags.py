"""Parses every DAG file as Airflow does and says, as JSON, what came of it. The tests run it in its own process."""

import importlib
import json
import os
import runpy
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from airflow.providers.apache.spark.hooks import spark_submit
from airflow.sdk import DAG, AssetOrTimeSchedule
from airflow.sdk.definitions._internal.contextmanager import DagContext
from airflow.sdk.definitions.timetables.simple import ContinuousTimetable
from airflow.sdk.execution_time import macros
from airflow.timetables.base import TimeRestriction
from airflow.timetables.simple import ContinuousTimetable as Continuous

from penstock.lake.spark_settings import spark_conf
from penstock.ops.airflow.runbooks import linked
from penstock.settings import Settings

HEAVY = ("pyspark", "delta", "pandas", "great_expectations", "deltalake", "pyarrow", "confluent_kafka", "apprise")


# Where else than here a driver may run, as an operator's connection says it.
CLUSTERS = {
    "kubernetes": {"host": "k8s://https://cluster:6443", "extra": {"deploy-mode": "cluster", "namespace": "penstock"}},
    "yarn": {
        "host": "yarn",
        "extra": {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": "http://manager:8088"},
    },
}


def main(folder: str) -> None:
    # What every DAG file shares is imported once by the DAG processor too.
    for module in ("airflow.providers.apache.spark.operators.spark_submit", "penstock.ops.airflow.streaming"):
        importlib.import_module(module)
    files = [parsed(file) for file in sorted(Path(folder).glob("*.py"))]
    streams = Path(folder, "streams.py")
    print(json.dumps({"files": files, "grouped": grouped(streams), "sent": sent(streams)}))  # noqa: T201


def grouped(streams: Path) -> dict[str, Any]:
    """Where sources of the web have a driver of their own."""
    with mock.patch.dict(os.environ, {"PENSTOCK_STREAM_GROUPS": "clicks=web.events people=web.users,web.identities"}):
        return parsed(streams)


def sent(streams: Path) -> dict[str, str]:
    """The streams' command on each kind of cluster."""
    # The hook refuses Kubernetes without this client, which the lock does not have; nothing is asked of it here.
    vars(spark_submit).setdefault("kube_client", object())
    told = {}
    for name, where in CLUSTERS.items():
        with mock.patch.dict(os.environ, {"AIRFLOW_CONN_SPARK_LAKE": json.dumps({"conn_type": "spark", **where})}):
            told[name] = parsed(streams)["dags"][0]["tasks"][0]["command"]
    return told


def parsed(file: Path) -> dict[str, Any]:
    # As the DAG processor collects them: every DAG that a file makes, bound to a name or not.
    DagContext.current_autoregister_module_name = __name__
    DagContext.autoregistered_dags.clear()
    begun = time.process_time()
    runpy.run_path(str(file), run_name=file.stem)
    seconds = time.process_time() - begun
    dags = [told(dag) for dag, _ in DagContext.autoregistered_dags]
    return {"file": file.stem, "seconds": seconds, "heavy": [m for m in HEAVY if m in sys.modules], "dags": dags}


def told(dag: DAG) -> dict[str, Any]:
    return {
        "dag_id": dag.dag_id,
        "doc": dag.doc_md or "",
        "tags": sorted(dag.tags),
        "structure": structure(dag),
        "shifts": shifts(dag) if isinstance(dag.timetable, ContinuousTimetable) else [],
        "params": {name: dict(dag.params.get_param(name).schema) for name in dag.params},
        "tasks": [task_told(dag, task) for task in dag.tasks],
    }


def shifts(dag: DAG) -> list[str]:
    """The dates of a continuous DAG's first two runs, as the scheduler makes them. Two of one date are one run."""
    limits = TimeRestriction(earliest=dag.start_date, latest=None, catchup=False)
    first = Continuous().next_dagrun_info(last_automated_data_interval=None, restriction=limits)
    second = Continuous().next_dagrun_info(last_automated_data_interval=first.data_interval, restriction=limits)
    return [str(each.logical_date) for each in (first, second)]


def structure(dag: DAG) -> dict[str, Any]:
    """When it runs, how often at once, and what waits for what: what a reviewer has to see change."""
    return {
        "schedule": schedule(dag.schedule),
        "catchup": dag.catchup,
        "max_active_runs": dag.max_active_runs,
        "run_timeout": str(dag.dagrun_timeout or ""),
        "rerun_with_latest_version": dag.rerun_with_latest_version,
        "tasks": {task.task_id: bounds(task) for task in dag.tasks},
    }


def schedule(given: Any) -> str:
    """As the file has it; a timetable beside assets by its expression and their names."""
    if not isinstance(given, AssetOrTimeSchedule):
        return str(given or "")
    assets = sorted(asset.name for asset in given.asset_condition.objects)
    return f"{given.timetable.expression} or {', '.join(assets)}"


def bounds(task: Any) -> str:
    """A task's place in its DAG and its limits, as one line of a review."""
    first, told = sorted(task.upstream_task_ids), sorted(outlet.name for outlet in task.outlets)
    return "; ".join(
        [
            f"after {', '.join(first)} ({task.trigger_rule.value})" if first else "at once",
            f"pool {task.pool}",
            f"{task.retries} retries, the first after {task.retry_delay}",
            *(f"tells {name}" for name in told),
        ]
    )


def task_told(dag: DAG, task: Any) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "owner": task.owner,
        "runbook": linked(task.doc_md or ""),
        "pool": task.pool,
        "policy": type(task.retry_policy).__name__ if task.retry_policy else None,
        "alerts": bool(task.on_failure_callback) and bool(task.on_success_callback),
        "command": command(dag, task) if hasattr(task, "application") else None,
    }


def form(dag: DAG) -> dict[str, Any]:
    """The form as it comes; what a person has to fill in is named."""
    fields = {name: dag.params.get_param(name) for name in dag.params}
    empty = {name: None if "null" in one.schema.get("type", ()) else f"<{name}>" for name, one in fields.items()}
    return {name: one.value if one.has_value else empty[name] for name, one in fields.items()}


def command(dag: DAG, task: Any) -> str:
    """What spark-submit is started with on a scheduled run with the form as it comes."""
    due = datetime(2026, 11, 18, 0, 10, tzinfo=UTC)
    run = SimpleNamespace(run_type="scheduled", run_id="r", run_after=due, triggering_user_name="lina")
    context = {"params": form(dag), "dag": dag, "dag_run": run, "run_id": "r", "ds": "2026-11-17", "macros": macros}
    task.render_template_fields(context | {"ti": SimpleNamespace(try_number=1, xcom_pull=lambda **_: None)})
    settings = Settings(home=Path("/home/of/penstock"), lake="/lake", kafka="127.0.0.1:9092")
    # The lake's own settings are reviewed where they stand; here is what this step adds to them.
    settings = task.sent(settings)
    ours = spark_conf(settings, short=task.is_short()).items()
    task.conf = dict(setting for setting in task.settings_of(settings).items() if setting not in ours)
    words = task._get_hook()._build_spark_submit_command(task.application)
    project = str(Path(__file__).parents[2])
    words += ["# a JVM for a job of seconds"] * (task.short is True)
    return "\n".join(word.replace(project, "<project>") for word in words)


if __name__ == "__main__":
    main(sys.argv[1])
