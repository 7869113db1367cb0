"""# Short job: the DAG of `penstock bench submit`

**When it fails**, the measurement fails and nothing else.
"""

from pathlib import Path

from airflow.sdk import dag

from penstock.ops import load
from penstock.ops.airflow.steps import SparkStep
from penstock.settings import Settings


@dag(schedule=None, doc_md=__doc__)
def short_job() -> None:
    told = Settings.from_env().home / "run" / "short-{{ run_id }}.json"
    step = SparkStep(job="short_job", arguments=[str(told)], short=True)
    step.application = str(Path(load.__file__).with_name("short_job.py"))


short_job()
