"""A Spark job's exit status becomes an error with a name, and the name decides whether it is tried again."""

import pytest
from airflow.sdk import RetryAction
from airflow.sdk.exceptions import AirflowException

from penstock.ops.airflow.errors import RETRY_BY_KIND, Busy, DataRefused, DriverLost, RequestRefused, Stalled, named


@pytest.mark.parametrize(
    ("status", "error", "action"),
    [
        (1, AirflowException, RetryAction.DEFAULT),
        (2, RequestRefused, RetryAction.FAIL),
        (3, DataRefused, RetryAction.FAIL),
        (137, DriverLost, RetryAction.RETRY),
        (-9, DriverLost, RetryAction.RETRY),
        (None, DriverLost, RetryAction.RETRY),
    ],
    ids=["crashed", "wrong usage", "refused", "out of memory", "killed", "gone"],
)
def test_an_exit_status_has_a_name_and_a_consequence(
    status: int | None, error: type[Exception], action: RetryAction
) -> None:
    raised = named(status, "told")
    assert (type(raised), RETRY_BY_KIND.evaluate(raised, 1, 3).action) == (error, action)


def test_a_driver_that_finds_the_lease_taken_waits_for_it() -> None:
    assert RETRY_BY_KIND.evaluate(named(3, "told", refusal=Busy), 1, 3).action is RetryAction.RETRY


def test_a_finding_of_the_watch_is_looked_at_again_by_the_next_run_alone() -> None:
    assert RETRY_BY_KIND.evaluate(Stalled("told"), 1, 3).action is RetryAction.FAIL
