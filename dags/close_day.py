"""# Close day: yesterday is exact, small and final

Each night, after the build of the day.

1. `close_day` (Spark) looks among the facts that came since the last night for copies of facts of any age. Copies
   become duplicates; what is new and the days that lose a fact are built behind their gates.
2. `close_days` takes every day that is not final yet, or that got late facts since: its files are joined and sorted,
   and it is final when, up to where `close_day` looked, no event id counts twice, every view has its facts, and its
   hours balance in the ledger. The verdicts are in `control/days`. A fact that comes later is counted all the same; it
   reopens its day, and only its day, until the next night.

**When it fails**, a day could not be declared final; the error says which and why. Readers keep the last good numbers.
"""

from airflow.sdk import dag, task

from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.runbooks import runbook
from penstock.ops.airflow.steps import SparkStep


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

    SparkStep(job="close_day", gated=True, memory="3g") >> close_days()


close_day()
