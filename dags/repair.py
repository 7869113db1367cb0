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
from penstock.ops.airflow.operations import OPERATION, approved, building, people
from penstock.ops.airflow.runbooks import runbook
from penstock.ops.airflow.steps import SparkStep

ASKED = ("source", "reason", "rename", "cast", "default", "revoke")


@dag(
    schedule=None,
    max_active_runs=1,
    catchup=False,
    default_args=building("repair"),
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
    asked = [f"--{name}={{{{ params['{name}'] }}}}" for name in ASKED]

    @task
    def plan(operation: str) -> str:
        from penstock.ops.airflow import repairs

        return repairs.plan(operation)

    chain(
        SparkStep(
            task_id="try",
            job="repair",
            doc_md=runbook("repair"),
            arguments=[*asked, f"--operation={OPERATION}", "--dry-run"],
        ),
        plan(OPERATION),
        *approved("Repair of {{ params.source }}?", job="repair", book="repair", arguments=asked),
    )


repair()
