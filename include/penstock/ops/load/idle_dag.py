"""# Idle tasks: the DAG of `penstock bench orchestration`

**When it fails**, the measurement fails and nothing else.
"""

from airflow.sdk import chain, dag, task

TASKS = 5


@dag(schedule=None, doc_md=__doc__)
def idle() -> None:
    @task
    def nothing() -> None:
        """Takes no time of its own."""

    chain(*(nothing.override(task_id=f"nothing_{number}")() for number in range(TASKS)))


idle()
