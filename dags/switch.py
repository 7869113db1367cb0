"""# Switch: people read another release from now on

`plan` compares the two releases: rows and measures of each view, records whose disposition moved, and why. Somebody
reads it and approves; inside the limit of the form nobody has to, and neither for going back. Then one commit moves the
pointer: each answer is wholly of one release. The release that was left keeps up, so that **going back is the same
step**: release `previous`.

It waits for a build that runs, and keeps builds waiting for its second.

**When it fails**, nothing was switched, and the error says why: the release is not ready, or gone.
"""

from airflow.sdk import Param, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.operations import APPROVED_BY, OPERATION, WHO, WHY, approval, people
from penstock.ops.airflow.runbooks import runbook

PLAN = "{{ ti.xcom_pull(task_ids='plan')['%s'] }}"


@dag(
    schedule=None,
    max_active_runs=1,
    default_args={**DEFAULTS, "pool": "releases", "doc_md": runbook("wrong_rule")},
    params={
        "domain": forms.one_domain(),
        "release": Param(
            "previous", type="string", pattern=r"^(r\d+|previous)$", title="Release", description="Or `previous`: back."
        ),
        "max_change": Param(
            None,
            type=["null", "number"],
            title="Without approval up to",
            description="Percent of each measure that may change without anybody's approval. Empty: always ask.",
        ),
        **people(),
    },
    doc_md=__doc__,
    tags=["releases"],
)
def switch() -> None:
    @task
    def plan(domain: str, release: str, max_change: str) -> dict[str, object]:
        from penstock.ops.airflow import releasing

        return releasing.plan_switch(domain, release, float(max_change) if max_change else None)

    @task.branch
    def who_decides(inside: str) -> str:
        return "move" if inside == "True" else "approve"

    # A build and a switch take turns.
    @task(pool="builds", trigger_rule="none_failed_min_one_success")
    def move(domain: str, release: str, who: str, why: str, approved_by: str, operation: str) -> str:
        from penstock.ops.airflow import releasing

        return releasing.switch(domain, release, who, why, approved_by, operation)

    planned = plan("{{ params.domain }}", "{{ params.release }}", "{{ params.max_change or '' }}")
    decides = who_decides(PLAN % "inside")
    moved = move("{{ params.domain }}", PLAN % "to", WHO, WHY, APPROVED_BY, OPERATION)
    asked = approval("Switch {{ params.domain }} to " + PLAN % "to" + "?", PLAN % "text", "wrong_rule")
    planned >> decides >> [asked, moved]
    asked >> moved


switch()
