"""# Release stream: keeps a release beside the current one up to date

One driver for each release that has its own code, started by its `replay`. It shapes what the log brings, with the
code that is pinned to the release; the archive is the business of `streams`. It runs in shifts and starts itself again,
until the release is dropped.

**Every task here is safe to clear, to mark failed, to kill**: a stream continues from its last committed epoch. If a
release has no run here, trigger one with its domain and name.

**When it fails**: records wait in the log, nothing is lost, and the release falls behind until it runs again.
"""

from datetime import timedelta

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import Param, chain, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.runbooks import runbook
from penstock.ops.airflow.streaming import StreamStep

SAME = {"domain": "{{ params.domain }}", "release": "{{ params.release }}"}


@dag(
    schedule=None,
    max_active_runs=8,
    # As `streams`: starting again is recovering.
    default_args={
        **DEFAULTS,
        "retries": 10_000,
        "retry_delay": timedelta(seconds=5),
        "max_retry_delay": timedelta(minutes=1),
        "pool": "release_streams",
        "doc_md": runbook("stream"),
    },
    params={"domain": forms.one_domain(), "release": Param(type="string", pattern=r"^r\d+$", title="Release")},
    doc_md=__doc__,
    tags=["streams", "releases"],
)
def release_stream() -> None:
    @task.short_circuit
    def still_kept(domain: str, release: str) -> bool:
        from penstock.ops.airflow import releasing

        return releasing.still_kept(domain, release)

    chain(
        StreamStep(**SAME),
        still_kept(SAME["domain"], SAME["release"]),
        TriggerDagRunOperator(task_id="again", trigger_dag_id="release_stream", conf=SAME),
    )


release_stream()
