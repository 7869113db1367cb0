"""A Spark job's exit status becomes an error with a name, and the name decides whether it is tried again."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from airflow.sdk import RetryAction
from airflow.sdk.exceptions import AirflowException

from penstock.lake.gates import Checked, record
from penstock.lake.layout import Layout
from penstock.ops.airflow.alerting import told
from penstock.ops.airflow.errors import RETRY_BY_KIND, Busy, DataRefused, DriverLost, RequestRefused, Stalled, named
from penstock.settings import Settings


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


@pytest.mark.parametrize(("table", "advised"), [("web.events", True), ("web.pageviews", False)])
def test_an_alert_of_a_source_that_broke_says_what_to_press(settings: Settings, table: str, advised: bool) -> None:
    now = datetime.now(UTC)
    record(
        Layout(settings.lake), Checked(now, table, "r1", False, "critical", "it fails", "/c", "", "[]", "[]", "[]", 0.1)
    )
    context = cast(Any, {"ti": SimpleNamespace(start_date=now)})
    text = told(DataRefused("told"), settings, context)
    assert ("it fails" in text, "build with *Accept*" in text) == (True, advised)
