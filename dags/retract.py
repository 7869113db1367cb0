"""# Retract: facts that should never have counted

Makes facts of a source for which a condition holds rejected (`retracted`), builds the days again that they were counted
in, has the gates look, and publishes. Nothing is erased: each row says which retraction holds it, and naming one in
`revoke` brings its facts back, all of them or those for which the condition holds.

`plan` says how many facts, which days and views, and numbers before and after; a person approves; `retract` does it.

**When it fails**, the error says why. **Clearing and repeating are safe**: what is marked is not marked twice. A
refused gate leaves readers the last good numbers.
"""

from airflow.sdk import chain, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.operations import approved, building, people


@dag(
    schedule=None,
    max_active_runs=1,
    catchup=False,
    default_args=building("nonsense_client"),
    params={
        **forms.facts("retraction"),
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
        plan(*forms.FACTS.values()),
        *approved(
            "Retract of {{ params.source }}?",
            job="retract",
            book="nonsense_client",
            arguments=[*(f"--{name}={value}" for name, value in forms.FACTS.items()), forms.CONFIRMED],
        ),
    )


retract()
