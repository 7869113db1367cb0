"""# Erase: subjects for good

The one thing that cannot be undone. Destroys the keys of subjects, makes their facts rejected (`erased`), builds the
days again that they were counted in, in every release, and takes old versions of views and silver's old rows away.
Bronze and the log keep bytes that nobody can read any more.

Subjects are given by their tokens, which `penstock erase NAME --domain web --dry-run` tells: a name would stay in this
form's history. `plan` says how many records, facts and days; a person approves; `erase` halts the domain's streams,
does it, and writes a report. Events wait in the log meanwhile.

**When it fails**, the error says why. **Clearing and repeating are safe**, and necessary: keys that are destroyed stay
destroyed, and it goes on with what is left.
"""

from airflow.sdk import Param, chain, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.errors import RequestRefused
from penstock.ops.airflow.operations import OPERATION, approved, building, people


@dag(
    schedule=None,
    max_active_runs=1,
    catchup=False,
    default_args=building("erase"),
    params={
        "domain": forms.one_domain(),
        "subjects": Param(
            type="string",
            pattern=r"^\s*[0-9a-f]{32}([\s,]+[0-9a-f]{32})*\s*$",
            title="Subjects",
            description="Their tokens, as `penstock erase --dry-run` tells them. Never a name.",
        ),
        **people(),
    },
    doc_md=__doc__,
    tags=["undo"],
)
def erase() -> None:
    @task
    def plan(domain: str, subjects: str, operation: str) -> str:
        from penstock.ops.airflow import erasures

        return erasures.plan(domain, subjects, operation)

    chosen = ("{{ params.domain }}", "{{ params.subjects }}")
    chain(
        plan(*chosen, OPERATION),
        *approved(
            "Erase for good, of {{ params.domain }}?",
            job="erase",
            book="erase",
            refusal=RequestRefused,
            arguments=["--domain={{ params.domain }}", "--subjects={{ params.subjects }}"],
        ),
    )


erase()
