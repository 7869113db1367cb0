"""What every operation that changes the lake has in common as a DAG: who asks and why, approval, and its name.

The pattern: `plan` says what would happen, `approve` waits for a person, the step does it. Each writes one audit entry
under OPERATION, so that a task that is cleared and repeated is recorded once.
"""

from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Param
from airflow.sdk.exceptions import AirflowException

from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.errors import DataRefused
from penstock.ops.airflow.runbooks import runbook
from penstock.ops.airflow.steps import SparkStep

# Templates, for arguments of steps and tasks.
OPERATION = "{{ dag.dag_id }}/{{ run_id }}"
WHO = "{{ params.who or dag_run.triggering_user_name or 'airflow' }}"
WHY = "{{ params.why }}"
# What `plan` said, for the person who approves.
PLANNED = "{{ ti.xcom_pull(task_ids='plan') }}"


def people() -> dict[str, Param]:
    """The fields of the form that every operation has."""
    return {
        "why": Param(
            type="string", minLength=3, title="Why", description="For the audit: what is wrong, in a sentence."
        ),
        "who": Param("", type="string", title="Who", description="Empty: who is logged in."),
    }


def approval(subject: str, body: str, book: str) -> ApprovalOperator:
    """A person reads what would happen and says yes. Rejected: what comes after is skipped, nothing was changed.

    Whoever answers within seconds is quicker than Airflow's scheduler (penstock/cockpit.py), which then takes the task
    for a failed one: it asks again.
    """
    return ApprovalOperator(
        task_id="approve",
        subject=subject,
        body=body,
        doc_md=runbook(book),
        pool="watch",
        retries=2,
        retry_delay=timedelta(seconds=1),
    )


# Who approved, for steps after `approve`; empty where nobody had to.
APPROVED_BY = "{{ ((ti.xcom_pull(task_ids='approve') or {}).get('responded_by_user') or {}).get('name', '') }}"
# The arguments of every Spark step that writes into the audit.
SIGNED = [f"--operation={OPERATION}", f"--who={WHO}", f"--why={WHY}", f"--approved-by={APPROVED_BY}"]


def building(book: str) -> dict[str, Any]:
    """What the tasks of an operation have that builds views: one at a time with other builds."""
    return {**DEFAULTS, "pool": "builds", "doc_md": runbook(book)}


def approved(
    question: str, *, job: str, book: str, arguments: list[str], refusal: type[AirflowException] = DataRefused
) -> tuple[ApprovalOperator, SparkStep]:
    """What comes after `plan`: a person says yes to what it said, then the job does it and signs the audit."""
    step = SparkStep(
        job=job,
        gated=True,
        # It builds views, as a build does.
        memory="3g",
        doc_md=runbook(book),
        refusal=refusal,
        arguments=[*arguments, *SIGNED],
    )
    return approval(question, PLANNED, book), step
