"""Drivers that run on a cluster: what they must be told of this project, which has no environment of ours there."""

from dataclasses import dataclass

from penstock.lake.spark_settings import LOG_LEVELS
from penstock.ops.airflow.errors import RequestRefused
from penstock.settings import Settings

KUBERNETES, YARN, STANDALONE = "k8s://", "yarn", "spark://"
MASTER = "PENSTOCK_SPARK_MASTER"
POD = "spark.kubernetes.driver.pod.name"
# For spark-submit itself, whose word of an application's id is at a level that Spark does not show by default.
TOLD = {"SPARK_SUBMIT_OPTS": f"-Dlog4j2.configurationFile={LOG_LEVELS}"}
# Airflow's own; it holds a password, and drivers do not ask its database.
NOT_THEIRS = "PENSTOCK_DATABASE"


@dataclass(frozen=True)
class Cluster:
    """Where the Spark connection sends jobs. `hosts`: the driver runs there too, which is the deploy mode `cluster`."""

    master: str
    hosts: bool

    def __post_init__(self) -> None:
        if self.hosts and self.master.startswith(STANDALONE):
            raise RequestRefused(
                f"{self.master}: Spark's standalone clusters run no Python driver. Set the connection's deploy-mode "
                "to client, or name a master on Kubernetes or YARN."
            )

    @property
    def on_kubernetes(self) -> bool:
        return self.hosts and self.master.startswith(KUBERNETES)

    @property
    def on_yarn(self) -> bool:
        return self.hosts and self.master == YARN

    def application(self, file: str) -> str:
        """On Kubernetes the image has it, at the path that it has here; YARN's client carries it there."""
        return f"local://{file}" if self.on_kubernetes else file

    def environment(self, settings: Settings) -> dict[str, str]:
        """A driver that is a child of its task has the rest of its environment from there."""
        told = {name: value for name, value in settings.to_env().items() if name != NOT_THEIRS}
        return {**told, **(TOLD if self.on_yarn else {})} if self.hosts else {MASTER: told[MASTER]}

    def pod(self, job: str, attempt: str) -> dict[str, str]:
        """A name of ours: the provider finds Spark's own in a log only where the namespace is called `spark`."""
        return {POD: f"penstock-{job.replace('_', '-')}-{attempt}-driver"} if self.on_kubernetes else {}
