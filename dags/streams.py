"""# Streams: from the log to bronze and silver, all day

One Spark driver archives and shapes every source of every domain. It runs in shifts (`PENSTOCK_SHIFT_HOURS`, six
hours unless set): a fresh driver forgets what an old one has leaked. When a shift ends or a driver dies the next run
starts at once, and the lease on each checkpoint sees to it that there are never two.

**Every task here is safe to clear, to mark failed, to kill**: a stream continues from its last committed epoch.

**When it fails**: records wait in the log; nothing is lost. Readers see numbers as of the last epoch.
"""

from datetime import UTC, datetime, timedelta

from airflow.sdk import dag

from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.errors import Busy
from penstock.ops.airflow.steps import SparkStep


@dag(
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
    SparkStep(job="stream", pool="streams", refusal=Busy)


streams()
