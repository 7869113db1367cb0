"""# Build views: gated, final numbers

Rebuilds what gained facts since the last build, has each view's suite judge the candidate, and publishes it in one
commit with the cut up to which it counts. Runs when an hour is closed, and each night for the whole day before.

- **By hand**: *Trigger* opens a form: a domain, a range of days, everything anew.
- **Older days**: *Backfill* rebuilds any range, one run a day, oldest first. A run takes along a month of days that
  wait behind it; their runs then end at once, and their notes say so. Of days that a gate refuses together, each is
  built by itself. Days before silver's first record are refused, by form and by backfill: there is nothing to build
  them from. Current rows have no day: they are made again by *everything anew*.

**Clearing and repeating are safe**: the tables are the same however often it runs.

**When a source sends what its suite refuses** (a twentieth rejected, say), its views wait: readers keep the last good
numbers, and see newer ones as provisional. Mend the sender or repair the records, or build with *Accept*.

**When a gate fails**, nothing is published, readers keep the last good numbers with their date, the candidate stays for
inspection, and the alert holds the failed expectations and three rows. Mend the cause, then clear the task.
"""

from datetime import UTC, datetime

from airflow.sdk import AssetOrTimeSchedule, CronDataIntervalTimetable, dag

from penstock.lake.spark_settings import few_cores
from penstock.ops.airflow import forms
from penstock.ops.airflow.assets import HOUR_CLOSED
from penstock.ops.airflow.days import DayStep
from penstock.ops.airflow.defaults import DEFAULTS

# A backfill's run, and the night's, rebuild their own day; a run for closed hours builds what is new.
OWN_DAY = "{{ ds if dag_run.run_type in ('backfill', 'scheduled') else params.%s or '' }}"


@dag(
    schedule=AssetOrTimeSchedule(timetable=CronDataIntervalTimetable("@daily", timezone="UTC"), assets=[HOUR_CLOSED]),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    # A build that was mended is why it is cleared, and why a range is built again.
    rerun_with_latest_version=True,
    default_args=DEFAULTS,
    params={
        "domain": forms.domain(),
        "from": forms.day("From"),
        "to": forms.day("To"),
        "full": forms.yes_no("Everything anew", "All facts again. As long as the first build of all days."),
        "accept": forms.yes_no("Accept", "Final also where a source's suite refused its records."),
    },
    doc_md=__doc__,
    tags=["views"],
)
def build_views() -> None:
    DayStep(
        job="build_views",
        gated=True,
        pool="builds",
        memory="3g",
        short=few_cores,
        arguments=[
            "--domain={{ params.domain }}",
            f"--from={OWN_DAY % 'from'}",
            f"--to={OWN_DAY % 'to'}",
            "--scheduled={{ 'yes' if dag_run.run_type == 'scheduled' else 'no' }}",
            "--full={{ 'yes' if params.full else 'no' }}",
            "--accept-rejected={{ 'yes' if params.accept else 'no' }}",
        ],
    )


build_views()
