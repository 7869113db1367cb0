"""# Rebuild: a table that was dropped or damaged

Bronze is filled again from the log, silver from bronze, views from silver; what is sound stays. `plan` says what is
wrong and what it costs; a person approves; `rebuild` halts the source's streams meanwhile and lets them go on after it.

`penstock doctor` finds what there is to rebuild and names tables as this form wants them.

**When it fails**, the error says why; records that are lost for good are named by partition and offset. **Clearing and
repeating are safe**: what is missing is asked of the tables again.
"""

from airflow.sdk import Param, chain, dag, task

from penstock.ops.airflow.operations import approved, building, people


@dag(
    schedule=None,
    max_active_runs=1,
    catchup=False,
    default_args=building("dropped_table"),
    params={
        "table": Param(
            type="string",
            pattern=r"^(bronze/[\w.]+|(silver|gold|speed)/r\d+/[\w.]+)$",
            title="Table",
            description="Its path below the lake's root, such as silver/r1/web.events.",
        ),
        **people(),
    },
    doc_md=__doc__,
    tags=["undo"],
)
def rebuild() -> None:
    @task
    def plan(table: str) -> str:
        from penstock.ops.airflow import rebuilds

        return rebuilds.plan(table)

    chain(
        plan("{{ params.table }}"),
        *approved(
            "Rebuild {{ params.table }}?",
            job="rebuild",
            book="dropped_table",
            arguments=["--table={{ params.table }}"],
        ),
    )


rebuild()
