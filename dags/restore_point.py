"""# Restore point: a moment to go back to

Pins every table's version, every stream's offsets, the releases and the deployed code's hash. It takes a second, copies
nothing and stops nothing, so nobody need approve it. One is taken at each publish and each night as well; press this
before something risky. It is kept for 30 days: `penstock restore-point list`. The way back is the DAG `rewind`.

**When it fails**, no point was taken, and nothing else happened: a table gained versions while it was looked at. Again.
"""

from airflow.sdk import dag, task

from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.operations import WHO, WHY, people
from penstock.ops.airflow.runbooks import runbook


@dag(
    schedule=None,
    max_active_runs=1,
    catchup=False,
    default_args={**DEFAULTS, "pool": "watch", "doc_md": runbook("rewind")},
    params=people(),
    doc_md=__doc__,
    tags=["undo"],
)
def restore_point() -> None:
    @task
    def take(who: str, why: str) -> str:
        from penstock.ops.airflow import rewinds

        return rewinds.take(who, why)

    take(WHO, WHY)


restore_point()
