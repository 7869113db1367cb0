"""# Ingest checks: is what arrives what usually arrives?

Each hour, of the hour before: `check_ingest` has the suites of bronze and silver judge the records of every source and
what became of them;
`arrivals` compares volume with the same hour of past weeks and the last record's age with the day's longest pause, and
tells of reasons, duplicates, undeclared fields that changed and declared ones that are filled no more.
`data_docs` makes Great Expectations' pages of what gates have said since the last hour.
Nothing is blocked: silver is written already, and views have gates of their own.

**When it fails**, a source sends what it should not, or a shape is wrong. The alert says which expectation and rows.
"""

from airflow.sdk import dag, task

from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.runbooks import runbook
from penstock.ops.airflow.steps import SparkStep

# The last hour that was over when the run was due; a run by hand has no interval.
HOUR = "{{ (dag_run.run_after - macros.timedelta(hours=1)).strftime('%Y-%m-%dT%H') }}"


@dag(
    # Ten minutes after the hour: late enough for streams that lag a little. A fresh home waits for its first hour.
    schedule="10 * * * *",
    max_active_runs=1,
    catchup=False,
    default_args={**DEFAULTS, "pool": "checks"},
    doc_md=__doc__,
    tags=["checks"],
)
def ingest_checks() -> None:
    @task(doc_md=runbook("arrivals"))
    def arrivals(hour: str) -> None:
        from penstock.ops.airflow import looks

        looks.arrivals(hour)

    # Also, and above all, of verdicts that refused.
    @task(doc_md=runbook("data_docs"), trigger_rule="all_done")
    def data_docs() -> list[str]:
        from penstock.ops.airflow import upkeep

        return upkeep.data_docs()

    check = SparkStep(job="check_ingest", arguments=[f"--hour={HOUR}"], short=True, gated=True)
    check >> [arrivals(HOUR), data_docs()]


ingest_checks()
