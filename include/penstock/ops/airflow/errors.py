"""Why a task failed, by name: operators read it, retries are decided by it."""

from datetime import timedelta

from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule
from airflow.sdk.exceptions import AirflowException


class DataRefused(AirflowException):
    """The data did not pass: nothing was published and the last good numbers stay. Trying again changes nothing."""


class RequestRefused(AirflowException):
    """The request itself cannot be done: a date, a name or an argument. Mend it and run again."""


class DriverLost(AirflowException):
    """The job's process was killed or ran out of memory. Jobs are crash-only, so it is tried again."""


class Busy(AirflowException):
    """Another driver does this work right now. Its lease is free the moment it ends, however it ends."""


class Stalled(AirflowException):
    """A look found what must not wait. People have been told by the look itself."""


class LakeDamaged(AirflowException):
    """Something in the lake is gone. Looked at again before people are called: streams move while one looks."""


# What a Spark job's exit status says; the same numbers as the command line's.
WRONG_USAGE, REFUSED = 2, 3


def named(status: int | None, told: str, refusal: type[AirflowException] = DataRefused) -> AirflowException:
    """The error of a Spark job that ended with this status; `refusal` is what this job means by refusing."""
    if status == REFUSED:
        return refusal(told)
    if status == WRONG_USAGE:
        return RequestRefused(told)
    if status is None or status < 0 or status in (137, 143):
        return DriverLost(told)
    return AirflowException(told)


# What is wrong with the data stays wrong; what is wrong with the machine passes.
RETRY_BY_KIND = ExceptionRetryPolicy(
    rules=[
        RetryRule(
            exception=[f"{__name__}.DataRefused", f"{__name__}.RequestRefused"],
            action=RetryAction.FAIL,
            reason="a person has to look: trying again gives the same answer",
        ),
        RetryRule(
            exception=f"{__name__}.Stalled",
            action=RetryAction.FAIL,
            reason="the next run looks again in a minute",
        ),
        RetryRule(
            exception=f"{__name__}.Busy",
            action=RetryAction.RETRY,
            retry_delay=timedelta(seconds=10),
            reason="the lease may be free by then",
        ),
        RetryRule(
            exception=f"{__name__}.DriverLost",
            action=RetryAction.RETRY,
            retry_delay=timedelta(seconds=5),
            reason="jobs are crash-only: starting again is recovering",
        ),
    ]
)
