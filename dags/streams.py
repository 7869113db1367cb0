"""# Streams: from the log to bronze and silver, all day

One Spark driver archives and shapes every source of every domain. It runs in shifts (`PENSTOCK_SHIFT_HOURS`, six
hours unless set): a fresh driver forgets what an old one has leaked. When a shift ends or a driver dies the next run
starts at once, and the lease on each checkpoint sees to it that there are never two.

Sources that `PENSTOCK_STREAM_GROUPS` names (`clicks=web.events orders=orders`) have a DAG, a pool and a driver of their
own: `streams_clicks`, `streams_orders`. A group that fails, lags or is paused leaves the others alone.

**Every task here is safe to clear, to mark failed, to kill**: a stream continues from its last committed epoch. A task
that waits for a lease has found another driver at work, whose task was lost; it takes over when that one ends.

**When it fails**: records wait in the log; nothing is lost. Readers see numbers as of the last epoch.
"""

from datetime import UTC, datetime, timedelta

from airflow.sdk import dag

from penstock.model.group import groups
from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.streaming import StreamStep
from penstock.settings import Settings


def hosting(group: str) -> None:
    @dag(
        dag_id=group,
        schedule="@continuous",
        # Without it the first interval is empty, the next run has the same date, and there never is a second shift.
        start_date=datetime(2024, 1, 1, tzinfo=UTC),
        max_active_runs=1,
        catchup=False,
        # Starting again is recovering: soon, and for as long as it takes. `stream_watch` calls people.
        default_args={
            **DEFAULTS,
            "retries": 10_000,
            "retry_delay": timedelta(seconds=5),
            "max_retry_delay": timedelta(minutes=1),
        },
        doc_md=__doc__,
        tags=["streams"],
    )
    def streams() -> None:
        StreamStep(group=group, pool=group)

    streams()


for each in groups(Settings.from_env().stream_groups):
    hosting(each.name)
