"""# Stream watch: a look each minute

Reads what the streams say of themselves, asks the log, measures the disk, and adds up the ledger, without Spark.
Whatever is wrong becomes one alert each, with its runbook; when it is well again, people hear of that as well.

**When `look` fails**, something critical was found: the error says what, in sentences. It needs no clearing: the next
look is a minute away. **When it does not run at all**, the scheduler is down: `penstock status`.
"""

from datetime import timedelta

from airflow.sdk import dag, task

from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.runbooks import runbook


@dag(
    schedule="* * * * *",
    max_active_runs=1,
    catchup=False,
    dagrun_timeout=timedelta(minutes=2),
    default_args={**DEFAULTS, "retries": 0, "pool": "watch"},
    doc_md=__doc__,
    tags=["streams", "checks"],
)
def stream_watch() -> None:
    @task(doc_md=runbook("look"))
    def look() -> None:
        from penstock.ops.airflow.looks import everything

        everything()

    look()


stream_watch()
