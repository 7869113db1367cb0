"""# Drop a release: its tables go, for good

For a release that nobody needs to go back to, or a replay that was given up. The current release of a domain is never
dropped. Its code and its story stay in the registry and in the audit; its numbers can be had again by a replay.

**When it fails**, the error says why. A drop that was cut short is done again: what is gone already is no error.
"""

from airflow.sdk import Param, chain, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.operations import APPROVED_BY, OPERATION, PLANNED, WHO, WHY, approval, people
from penstock.ops.airflow.runbooks import runbook


@dag(
    schedule=None,
    max_active_runs=1,
    default_args={**DEFAULTS, "pool": "releases", "doc_md": runbook("wrong_rule")},
    params={
        "domain": forms.one_domain(),
        "release": Param(type="string", pattern=r"^r\d+$", title="Release"),
        **people(),
    },
    doc_md=__doc__,
    tags=["releases"],
)
def drop_release() -> None:
    @task
    def plan(domain: str, release: str) -> str:
        from penstock.ops.airflow import releasing

        return releasing.plan_drop(domain, release)

    @task
    def drop(domain: str, release: str, who: str, why: str, approved_by: str, operation: str) -> str:
        from penstock.ops.airflow import releasing

        return releasing.drop(domain, release, who, why, approved_by, operation)

    domain, release = "{{ params.domain }}", "{{ params.release }}"
    chain(
        plan(domain, release),
        approval(f"Drop {domain} {release}?", PLANNED, "wrong_rule"),
        drop(domain, release, WHO, WHY, APPROVED_BY, OPERATION),
    )


drop_release()
