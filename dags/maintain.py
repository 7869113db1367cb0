"""# Maintain: few files, room on the disk, and proof that tables can be restored

Each night: takes a restore point, joins small files, deletes those that neither a version of the last week nor a
restore point needs, and restores a copy of a small table to see that it is what it was. Rows never change. Releases
that nobody went back to for `PENSTOCK_REVERT_DAYS` (7) stand still from then on. Waits for builds and lets none start
meanwhile.

Where `PENSTOCK_RETENTION` names sources, `expire` empties their old days of silver and keeps what was counted of them.
It begins only when all before it went well: a lake that cannot be restored forgets nothing. `penstock retention` says
what would go.

Beside that, `examine` looks whether anything is gone: tables, their files, offsets that bronze lacks, records without a
disposition, checkpoints. `penstock doctor --deep` reads every row as well.

**When it fails**: nothing is wrong with any number. Tables get slower, or the disk fills, until it succeeds again.
**When `examine` fails**, part of the lake is gone: the error names it, what it costs to rebuild, and the command.
"""

from airflow.sdk import chain, dag, task

from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.runbooks import runbook


@dag(
    schedule="0 3 * * *",
    max_active_runs=1,
    catchup=False,
    # Compaction and a build may want the same files: they take turns.
    default_args={**DEFAULTS, "pool": "builds", "doc_md": runbook("maintain")},
    doc_md=__doc__,
    tags=["upkeep"],
)
def maintain() -> None:
    @task
    def pin() -> str:
        from penstock.ops.airflow import upkeep

        return upkeep.pin()

    @task
    def compact() -> int:
        from penstock.ops.airflow import upkeep

        return upkeep.compact()

    @task
    def vacuum() -> int:
        from penstock.ops.airflow import upkeep

        return upkeep.vacuum()

    @task
    def drill() -> int:
        from penstock.ops.airflow import upkeep

        return upkeep.drill()

    @task
    def retire() -> list[str]:
        from penstock.ops.airflow import upkeep

        return upkeep.retire()

    @task
    def expire() -> list[str]:
        from penstock.ops.airflow import upkeep

        return upkeep.expire()

    # Apart, in a pool that no build waits for: what is found must not keep the disk from being tidied.
    @task(pool="checks", doc_md=runbook("dropped_table"))
    def examine() -> str:
        from penstock.ops.airflow import upkeep

        return upkeep.examine()

    examine()
    chain(pin(), compact(), vacuum(), drill(), retire(), expire())


maintain()
