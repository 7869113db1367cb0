"""# Stream watch: a look each minute

`look` reads what the streams say of themselves, asks the log, measures the disk, and checks that the ledger adds up,
without Spark. Whatever is wrong becomes one alert each, with its runbook; people hear when it is well again too.

`close_hours` brings the ledger up to the newest commits and tells `build_views` of every hour whose records all have
their disposition; of one that lacks some after ten minutes as well, so that numbers are never older than an hour.

**When `look` fails**, something critical was found: the error says what, in sentences. It needs no clearing: the next
look is a minute away. **When it does not run at all**, the scheduler is down: `penstock status`.
"""

from datetime import timedelta
from typing import Any

from airflow.sdk import AssetAlias, dag, task

from penstock.ops.airflow.assets import HOUR_CLOSED
from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.runbooks import runbook

# An alias sends as many events as there are closed hours: often none.
CLOSED = AssetAlias("hours_closed_now")


@dag(
    schedule="* * * * *",
    max_active_runs=1,
    catchup=False,
    dagrun_timeout=timedelta(minutes=2),
    # Once more after a busy database or a broker that comes back; what `look` finds is told at once (errors.py).
    default_args={**DEFAULTS, "retries": 1, "retry_delay": timedelta(seconds=5), "pool": "watch"},
    doc_md=__doc__,
    tags=["streams", "checks"],
)
def stream_watch() -> None:
    @task(doc_md=runbook("look"))
    def look() -> None:
        from penstock.ops.airflow.looks import everything

        everything()

    @task(doc_md=runbook("close_hours"), outlets=[CLOSED])
    def close_hours(outlet_events: Any) -> int:
        from penstock.ops.airflow import looks

        return looks.close_hours(lambda extra: outlet_events[CLOSED].add(HOUR_CLOSED, extra=extra))

    # Apart: a critical finding fails `look`, and must not keep hours from closing.
    close_hours()
    look()


stream_watch()
