"""What every task has unless its DAG says otherwise."""

from datetime import timedelta
from typing import Any

from penstock.ops.airflow.alerting import Notice
from penstock.ops.airflow.errors import RETRY_BY_KIND

DEFAULTS: dict[str, Any] = {
    "owner": "data-platform",
    "retries": 3,
    "retry_delay": timedelta(seconds=20),
    "retry_exponential_backoff": 2.0,
    "max_retry_delay": timedelta(minutes=10),
    "retry_policy": RETRY_BY_KIND,
    "on_failure_callback": Notice("failed"),
    "on_success_callback": Notice("recovered"),
}
