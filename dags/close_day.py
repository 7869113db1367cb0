"""# Close day: yesterday is final

Each night, after the build of the day: looks at every day that is not final yet, or that got late facts since. A day is
final when no event id counts twice, the ledger adds up, and every view was built up to its last fact. The verdicts are
in `control/days`. Late facts are counted all the same; they only reopen their day until the next night.

**When it fails**, a day could not be declared final; the error says which and why. No number is wrong by that.
"""

from airflow.sdk import dag, task

from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.runbooks import runbook


@dag(
    # After the nightly build and hours that closed late.
    schedule="30 1 * * *",
    max_active_runs=1,
    catchup=False,
    # The same pool as builds, so that it looks after the night's build and never into one.
    default_args={**DEFAULTS, "pool": "builds"},
    doc_md=__doc__,
    tags=["views", "checks"],
)
def close_day() -> None:
    @task(doc_md=runbook("close_day"))
    def close_days() -> int:
        from penstock.ops.airflow import upkeep

        return upkeep.close_days()

    close_days()


close_day()
