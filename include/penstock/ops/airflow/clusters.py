"""Drivers that run on a cluster: what they must be told of this project, which has no environment of ours there."""

from dataclasses import dataclass

from penstock.ops.airflow.errors import RequestRefused
from penstock.settings import Settings

KUBERNETES, YARN, STANDALONE = "k8s://", "yarn", "spark://"
MASTER = "PENSTOCK_SPARK_MASTER"
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
        return told if self.hosts else {MASTER: told[MASTER]}
