"""The Spark step: one file of spark_jobs/ run by spark-submit, with the lake's settings and errors by name."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException

from penstock.lake.spark_settings import spark_conf
from penstock.ops.airflow.clusters import FORGOTTEN, POD, Cluster, exit_status
from penstock.ops.airflow.environment import PROJECT, SPARK_CONNECTION
from penstock.ops.airflow.errors import DataRefused, RequestRefused, named
from penstock.ops.airflow.notes import verdicts
from penstock.ops.airflow.runbooks import runbook
from penstock.settings import STANDARD, Settings


class SparkStep(SparkSubmitOperator):
    """`job` is the file's name; the task, its runbook and its Spark application carry it too.

    `short` as `spark_conf` has it (a function is asked where the step runs); `refusal` is what exit status 3 of this
    job means; `gated` jobs record verdicts, whose warnings people are told. Settings are read when the step runs: a
    parsed DAG is the same everywhere.
    """

    def __init__(
        self,
        *,
        job: str,
        arguments: list[str] | None = None,
        short: bool | Callable[[], bool] = False,
        memory: str = "1g",
        refusal: type[AirflowException] = DataRefused,
        gated: bool = False,
        **more: Any,
    ) -> None:
        self.job = job
        self.refusal = refusal
        self.gated = gated
        self.short = short
        self.memory = memory
        super().__init__(
            task_id=more.pop("task_id", job),
            application=str(PROJECT / "spark_jobs" / f"{job}.py"),
            application_args=arguments or [],
            conn_id=SPARK_CONNECTION,
            name=f"penstock.{job}",
            doc_md=more.pop("doc_md", runbook(job)),
            **more,
        )

    def execute(self, context: Context) -> None:
        settings = self.sent(Settings.from_env())
        self.conf = {**self.settings_of(settings), **self.cluster().conf(self.job, str(context["ti"].id))}
        self.env_vars = {**(self.env_vars or {}), STANDARD["started_by"]: started_by(context)}
        try:
            super().execute(context)
        except (AirflowException, RuntimeError) as failed:
            # The second is what the provider tells of an end on a cluster.
            raise named(self.ended(str(failed)), str(failed), self.refusal) from failed
        finally:
            # For the run's note, whatever came of it.
            if self.gated:
                context["ti"].xcom_push("return_value", verdicts(settings.lake, context["ti"].start_date))

    def ended(self, told: str) -> int | None:
        """The job's exit status, or that of a submission that failed."""
        process = getattr(self._hook, "_submit_sp", None)
        return (process and process.returncode) or exit_status(told)

    def get_job_status(self, external_id: Any, context: Context) -> str:
        try:
            return super().get_job_status(external_id, context)
        except RuntimeError as unanswered:
            # A manager that began anew has ended what its nodes ran, and would be asked about it for ever.
            if FORGOTTEN in str(unanswered):
                return "FORGOTTEN"
            raise

    def poll_until_complete(self, external_id: Any, context: Context) -> None:
        # The provider ends on YARN what it has submitted; what a later try found again must end with that one, too.
        if self._hook and self._yarn_track_via_rm_api:
            self._hook._yarn_application_id = external_id
        super().poll_until_complete(external_id, context)

    def _get_hook(self) -> SparkSubmitHook:
        hook = super()._get_hook()
        hook._kubernetes_driver_pod = (self.conf or {}).get(POD)
        return hook

    def cluster(self) -> Cluster:
        try:
            where = self._get_hook()._connection
        except NameError as missing:
            # What the provider looks for on Kubernetes and imports only where it is installed.
            raise RequestRefused(
                "Jobs for Kubernetes need apache-airflow-providers-cncf-kubernetes beside Airflow: install it."
            ) from missing
        return Cluster(where["master"], where["deploy_mode"] == "cluster")

    def sent(self, settings: Settings) -> Settings:
        """The settings for where the connection sends this job; a task that is tried again finds its driver there."""
        cluster = self.cluster()
        settings = replace(settings, spark_master=cluster.master)
        self._track_driver_via_k8s_api, self._yarn_track_via_rm_api = cluster.on_kubernetes, cluster.on_yarn
        self.application = cluster.application(self.application)
        self.env_vars = {**(self.env_vars or {}), **cluster.environment(settings)}
        return settings

    def is_short(self) -> bool:
        return self.short() if callable(self.short) else self.short

    def settings_of(self, settings: Settings) -> dict[str, str]:
        """The lake's settings with this step's memory. The master is the connection's to say."""
        return {**spark_conf(settings, short=self.is_short()), "spark.driver.memory": self.memory, **(self.conf or {})}


def started_by(context: Context) -> str:
    """The task as OpenLineage knows it: what its job tells hangs below it."""
    from airflow.providers.openlineage.plugins.macros import lineage_parent_id

    return str(lineage_parent_id(context["ti"]))
