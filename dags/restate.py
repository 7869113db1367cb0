"""# Restate: facts that say something wrong

Corrects one field of facts of a source by a rule, in SQL on the columns of the same fact, where a condition holds;
builds the days again that they were counted in, has the gates look, and publishes. Nothing is erased: each row keeps
what it said before, and naming the restatement in `revoke` brings that back, all of it or where the condition holds.

`plan` says how many facts, which values become which, days and views, and numbers before and after; a person approves;
`restate` does it.

**When it fails**, the error says why. **Clearing and repeating are safe**: what is restated is not restated twice. A
refused gate leaves readers the last good numbers.
"""

from airflow.sdk import Param, chain, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.operations import approved, building, people

ASKED = {**forms.FACTS, "field": "{{ params.field }}", "value": "{{ params.value }}"}


@dag(
    schedule=None,
    max_active_runs=1,
    catchup=False,
    default_args=building("wrong_field"),
    params={
        **forms.facts("restatement"),
        "field": Param("", type="string", title="Field", description="Which one says something wrong."),
        "value": Param(
            "", type="string", title="Value", description="What is right, in SQL: 'Rhineland', upper(region)"
        ),
        **people(),
    },
    doc_md=__doc__,
    tags=["undo"],
)
def restate() -> None:
    @task
    def plan(source: str, where: str, first: str, last: str, revoke: str, field: str, value: str) -> str:
        from penstock.ops.airflow import retractions

        return retractions.restated(source, where, first, last, field, value, revoke)

    chain(
        plan(*ASKED.values()),
        *approved(
            "Restatement of {{ params.source }}?",
            job="restate",
            book="wrong_field",
            arguments=[*(f"--{name}={value}" for name, value in ASKED.items()), forms.CONFIRMED],
        ),
    )


restate()
