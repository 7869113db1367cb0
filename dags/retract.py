"""# Retract: facts that should never have counted

Makes facts of a source for which a condition holds rejected (`retracted`), builds the days again that they were counted
in, has the gates look, and publishes. Nothing is erased: each row says which retraction holds it, and naming one in
`revoke` brings its facts back, all of them or those for which the condition holds.

`plan` says how many facts, which days and views, and numbers before and after; a person approves; `retract` does it.

**When it fails**, the error says why. **Clearing and repeating are safe**: what is marked is not marked twice. A
refused gate leaves readers the last good numbers.
"""

from airflow.sdk import Param, chain, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.operations import approved, building, people

WHEN = "A UTC day (2026-11-18) or a moment (2026-11-18T09:30:00Z) of happened_at; empty: open."

ASKED = {
    "source": "{{ params.source }}",
    "where": "{{ params.where }}",
    "from": "{{ params['from'] }}",
    "to": "{{ params['to'] }}",
    "revoke": "{{ params.revoke }}",
}


@dag(
    schedule=None,
    max_active_runs=1,
    catchup=False,
    default_args=building("nonsense_client"),
    params={
        "source": forms.source(),
        "where": Param("", type="string", title="Condition", description="SQL on the facts' columns."),
        "from": Param("", type="string", title="From", description=WHEN),
        "to": Param("", type="string", title="To", description=WHEN + " A day is included."),
        "revoke": Param("", type="string", title="Revoke", description="Empty, or the retraction to take back."),
        "confirmed": forms.yes_no("Confirmed", "Also if it is about every fact, or none."),
        **people(),
    },
    doc_md=__doc__,
    tags=["undo"],
)
def retract() -> None:
    @task
    def plan(source: str, where: str, first: str, last: str, revoke: str) -> str:
        from penstock.ops.airflow import retractions

        return retractions.plan(source, where, first, last, revoke)

    chain(
        plan(*ASKED.values()),
        *approved(
            "Retract of {{ params.source }}?",
            job="retract",
            book="nonsense_client",
            arguments=[
                *(f"--{name}={value}" for name, value in ASKED.items()),
                "--confirmed={{ 'yes' if params.confirmed else 'no' }}",
            ],
        ),
    )


retract()
