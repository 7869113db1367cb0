"""Drivers that run on a cluster: what they must be told of this project, which has no environment of ours there."""

import re
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
ON_YARN = {
    # Airflow knows which failure to try again: YARN would try each, the refusal of a gate too.
    "spark.yarn.maxAppAttempts": "1",
    # Builds of few facts open their session when they are done. YARN's manager waits as long; Spark alone 100 s.
    "spark.yarn.am.waitTime": "600s",
}
# What each of them says of a driver that ended by itself, and YARN's manager of one that it has not heard of.
STATUS = re.compile(r"exited with +(?:status|exitCode:) (\d+)|exit_code=(\d+)")
FORGOTTEN = "returned HTTP 404"


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

    def conf(self, job: str, attempt: str) -> dict[str, str]:
        if self.on_kubernetes:
            # A name of ours: the provider finds Spark's own in a log only where the namespace is called `spark`.
            return {POD: f"penstock-{job.replace('_', '-')}-{attempt}-driver"}
        return ON_YARN if self.on_yarn else {}


def exit_status(told: str) -> int | None:
    """A driver's own, in what its cluster tells of its end; none where it was killed."""
    found = STATUS.search(told)
    return int(found[1] or found[2]) if found else None
