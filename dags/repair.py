"""# Repair: rejected records that can be read after all

Renames, casts or gives defaults to fields of records that were rejected for a reason, and shapes exactly those again:
what becomes a fact goes into its day, the views of those days are built and published behind the gate. What stays
rejected is left alone. A repair has a name; naming it in `revoke` rejects its records again.

`try` says how many would become facts; a person approves; `repair` does it. What is rejected, and why:
`penstock rejected --source web.events`.

**When it fails**, the error says why. **Clearing and repeating are safe**: only what is still rejected is shaped again.
"""

from airflow.sdk import Param, chain, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.operations import APPROVED_BY, OPERATION, WHO, WHY, approval, people
from penstock.ops.airflow.runbooks import runbook
from penstock.ops.airflow.steps import SparkStep

ASKED = ("source", "reason", "rename", "cast", "default", "revoke")


@dag(
    schedule=None,
    max_active_runs=1,
    catchup=False,
    # It builds views: one at a time with other builds.
    default_args={**DEFAULTS, "pool": "builds", "doc_md": runbook("repair")},
    params={
        "source": forms.source(),
        "reason": Param("", type="string", title="Reason", description="Why they were rejected, such as missing_site."),
        "rename": Param("", type="string", title="Rename", description="old=new, with commas."),
        "cast": Param("", type="string", title="Cast", description="field=integer, number, string or boolean."),
        "default": Param("", type="string", title="Default", description="field=value, with commas."),
        "revoke": Param("", type="string", title="Revoke", description="Empty, or the repair to take back."),
        **people(),
    },
    doc_md=__doc__,
    tags=["undo"],
)
def repair() -> None:
    told = [*(f"--{name}={{{{ params['{name}'] }}}}" for name in ASKED), f"--operation={OPERATION}"]

    @task
    def plan(operation: str) -> str:
        from penstock.ops.airflow import repairs

        return repairs.plan(operation)

    chain(
        SparkStep(task_id="try", job="repair", doc_md=runbook("repair"), arguments=[*told, "--dry-run"]),
        plan(OPERATION),
        approval("Repair of {{ params.source }}?", "{{ ti.xcom_pull(task_ids='plan') }}", "repair"),
        SparkStep(
            job="repair",
            gated=True,
            memory="3g",
            doc_md=runbook("repair"),
            arguments=[*told, f"--who={WHO}", f"--why={WHY}", f"--approved-by={APPROVED_BY}"],
        ),
    )


repair()
