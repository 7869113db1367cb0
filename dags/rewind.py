"""# Rewind: a domain, or the whole lake, back to a restore point

Brings silver, gold and speed of a domain back to what they were at a restore point, each table in one commit on top of
what there is; of `all`, one domain after the other, once every one of them is known to be able to go. The present is
saved as a restore point first, so that a rewind is undone by another one. Bronze, ledger and audit stay. Streams shape
again what the log has since the point: no event is lost.

`plan` says what would change; a person approves; `rewind` halts the domain's streams, goes back and lets them start
again. Who was erased since stays erased: all views are then built again. Points: `penstock restore-point list`; one is
taken at each publish, each night and on demand (DAG `restore_point`).

**When it fails**, the domain's streams wait until it is ended: clear `rewind`, and it goes on where it was.
"""

from airflow.sdk import Param, chain, dag, task

from penstock.model.domain import domains
from penstock.ops.airflow import forms
from penstock.ops.airflow.errors import RequestRefused
from penstock.ops.airflow.operations import approved, building, people


@dag(
    schedule=None,
    max_active_runs=1,
    catchup=False,
    # No build meanwhile: it would publish what is just being taken back.
    default_args=building("rewind"),
    params={
        "domain": Param(
            next(iter(domains())),
            type="string",
            enum=[*domains(), forms.ALL],
            title="Domain",
            description="Whose tables; or all, one domain after the other.",
        ),
        "point": Param(
            type="string", pattern=r"^\d{8}T\d{6}-[0-9a-f]{4}$", title="Restore point", description="Its id."
        ),
        **people(),
    },
    doc_md=__doc__,
    tags=["undo"],
)
def rewind() -> None:
    @task
    def plan(domain: str, point: str) -> str:
        from penstock.ops.airflow import rewinds

        return rewinds.plan(domain, point)

    chain(
        plan("{{ params.domain }}", "{{ params.point }}"),
        *approved(
            "Rewind {{ params.domain }}?",
            job="rewind",
            book="rewind",
            refusal=RequestRefused,
            arguments=["--domain={{ params.domain }}", "--point={{ params.point }}"],
        ),
    )


rewind()
