"""A build of a day of a backfill: it takes along the days that wait behind it, and has nothing to do if it was taken.

Each run would be a process that starts, builds one day and publishes every view: thirty cost twice the one build of
all (docs/decisions/0065).
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from itertools import takewhile
from typing import Any
from uuid import UUID

from airflow.sdk import Context

from penstock.ops.airflow.steps import SparkStep
from penstock.settings import Settings

# A month: as many as a killed task may have to build again.
TOGETHER = 31
TAKEN = "{day} was built with other days of this backfill, after it was asked for"
# What Airflow calls a task that has not begun.
WAITING = (None, "scheduled", "queued")


class DayStep(SparkStep):
    """One task, whatever started its run; only a backfill's looks at other runs."""

    def execute(self, context: Context) -> None:
        run, form = context["dag_run"], context["params"]
        if run.run_type == "backfill" and run.logical_date and not form["full"]:
            day, asked = run.logical_date.date(), asked_at(context["ti"].id)
            missing = missing_since(asked, form["domain"])
            if not missing(day):
                context["ti"].xcom_push("return_value", TAKEN.format(day=day))
                return
            vain = passed_over(context["ti"].get_previous_dagrun(), asked, missing)
            along = None if vain else waiting(day, lambda later: missing(later) and self.awaited(context, later))
            self.application_args = [*(self.application_args or []), *told(context, along)]
        super().execute(context)

    def awaited(self, context: Context, day: date) -> bool:
        """Whether a run of this DAG waits to build a day."""
        midnight = datetime.combine(day, time(), UTC)
        task = context["ti"]
        runs = task.get_task_states(task.dag_id, task_ids=[self.task_id], logical_dates=[midnight])
        return any(state in WAITING for tasks in runs.values() for state in tasks.values())


def told(context: Context, along: date | None) -> list[str]:
    """What the job gets beside its day."""
    return [f"--begun={context['ti'].start_date.isoformat()}", *([f"--along={along}"] if along else [])]


def missing_since(asked: datetime, domain: str) -> Callable[[date], bool]:
    """Says of a day whether it was not built since a moment."""
    from penstock.lake.asked import built
    from penstock.lake.layout import Layout
    from penstock.model.domain import domains

    names, layout = list(domains()) if domain == "all" else [domain], Layout(Settings.from_env().lake)
    return lambda day: not built(layout, names, day, asked)


def asked_at(attempt: UUID) -> datetime:
    """When somebody asked for an attempt at a task: Airflow gives each a new UUID of version 7, by the clock."""
    return datetime.fromtimestamp((attempt.int >> 80) / 1000, UTC)


def passed_over(before: Any, asked: datetime, missing: Callable[[date], bool]) -> bool:
    """Whether the run of the day before has been, since then, and its day is missing all the same: its gate refuses
    every day, or nobody here can tell. To build the days behind it once more for each of them would be in vain."""
    return bool(before and before.end_date and before.end_date > asked and missing(before.logical_date.date()))


def waiting(day: date, wanted: Callable[[date], bool]) -> date | None:
    """The last of the wanted days that follow a day without a gap; none where the next one is not wanted."""
    later = (day + timedelta(days=number) for number in range(1, TOGETHER))
    return max(takewhile(wanted, later), default=None)
