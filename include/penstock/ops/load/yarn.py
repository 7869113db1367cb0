"""A Hadoop YARN of one machine: a ResourceManager and a NodeManager, each by the main class that Hadoop gives it.

`make yarn` brings the jars, which are on no class path but this one. To try drivers on it, in a shell of its own:

    .venv/bin/python -m penstock.ops.load.yarn /tmp/yarn
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import httpx

from penstock.jvm import QUICK, SHARE
from penstock.ops.airflow.environment import SPARK_CONNECTION
from penstock.ops.stack.trial import free_port

JARS = SHARE / "jars" / "yarn"
ABSENT = "YARN is not here: run make yarn"
SERVER = "org.apache.hadoop.yarn.server"
MANAGER, NODE = f"{SERVER}.resourcemanager.ResourceManager", f"{SERVER}.nodemanager.NodeManager"
# Guice, of the NodeManager, makes classes at run time.
JVM = ("-Xmx256m", *QUICK, "--add-opens=java.base/java.lang=ALL-UNNAMED")
PATIENCE = 120.0
OVER = {"FINISHED", "FAILED", "KILLED"}
LOGGING = """log4j.rootLogger=INFO, err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%d{ISO8601} %p %c{1} %m%n
"""


def here() -> bool:
    return any(JARS.glob("hadoop-yarn-server-nodemanager-*.jar"))


class Yarn:
    """One node of so many megabytes. Its settings, what it says and what its containers say are in its folder."""

    def __init__(self, folder: Path, megabytes: int = 8192) -> None:
        self.folder = folder
        port = free_port(following=4)
        self.page = f"http://127.0.0.1:{port}"
        self._settings = folder / "conf"
        self._settings.mkdir(parents=True, exist_ok=True)
        site(self._settings / "core-site.xml", {"fs.defaultFS": "file:///", "hadoop.tmp.dir": str(folder / "tmp")})
        site(self._settings / "yarn-site.xml", {**manager(port), **node(folder, megabytes)})
        (self._settings / "log4j.properties").write_text(LOGGING)
        # What a job sends along stays in the folder, and a trial's driver needs no more than one small executor.
        (self._settings / "spark-defaults.conf").write_text(
            f"spark.yarn.stagingDir file://{folder}/staging\n"
            "spark.executor.instances 1\nspark.executor.memory 640m\nspark.executor.extraJavaOptions -XX:+UseSerialGC\n"
        )

    def environ(self) -> dict[str, str]:
        """What sends the Spark steps of a stack that is started with it to this cluster."""
        extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": self.page}
        connection = json.dumps({"conn_type": "spark", "host": "yarn", "extra": extra})
        conf = str(self._settings)
        return {f"AIRFLOW_CONN_{SPARK_CONNECTION.upper()}": connection, "HADOOP_CONF_DIR": conf, "SPARK_CONF_DIR": conf}

    def start(self) -> "Yarn":
        """Returns when the node is ready for containers."""
        self.start_manager()
        self._node = self._process(NODE)
        self.wait(lambda: any(each["state"] == "RUNNING" for each in self._told("nodes", "node")))
        return self

    def start_manager(self) -> None:
        self._manager = self._process(MANAGER)

    def kill_manager(self) -> None:
        """What it knew of applications dies with it, as it keeps none of that on disk."""
        self._manager.kill()
        self._manager.wait()

    def applications(self) -> list[dict[str, Any]]:
        """All that it knows of, the oldest first."""
        return sorted(self._told("apps", "app"), key=lambda each: each["id"])

    def running(self) -> list[str]:
        return [each["id"] for each in self.applications() if each["state"] not in OVER]

    def end(self, application: str) -> None:
        """As whoever runs the cluster would."""
        httpx.put(f"{self.page}/ws/v1/cluster/apps/{application}/state", json={"state": "KILLED"}).raise_for_status()

    def stop(self) -> None:
        """The node first: it ends its containers before it ends."""
        for process in (self._node, self._manager):
            process.terminate()
            process.wait(60)

    def wait(self, true: Callable[[], bool]) -> None:
        limit = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > limit:
                raise TimeoutError(f"YARN was not ready in {PATIENCE:.0f} s; its logs are in {self.folder}")
            time.sleep(0.5)

    def _told(self, several: str, one: str) -> list[dict[str, Any]]:
        try:
            told = httpx.get(f"{self.page}/ws/v1/cluster/{several}", timeout=30).raise_for_status().json()[several]
        except httpx.HTTPError:
            return []
        return list(told[one]) if told else []

    def _process(self, main: str) -> "subprocess.Popen[bytes]":
        java = Path(str(shutil.which("java"))).resolve()
        said = self.folder / f"{main.rpartition('.')[2].lower()}.log"
        # Containers have the node's Java.
        environ = {**os.environ, "JAVA_HOME": str(java.parents[1])}
        with said.open("ab") as log:
            return subprocess.Popen(
                [java, *JVM, "-cp", f"{self._settings}:{JARS}/*", main], env=environ, stdout=log, stderr=log
            )


def site(file: Path, settings: Mapping[str, str]) -> None:
    """Settings in the form in which Hadoop reads them."""
    rows = (
        f"<property><name>{name}</name><value>{escape(value)}</value></property>" for name, value in settings.items()
    )
    file.write_text(f"<configuration>{''.join(rows)}</configuration>")


def manager(port: int) -> dict[str, str]:
    """Only loopback is listened on; five ports, of which the first has the pages and their REST."""
    names = ("webapp.address", "address", "scheduler.address", "resource-tracker.address", "admin.address")
    return {
        "yarn.resourcemanager.hostname": "127.0.0.1",
        **{f"yarn.resourcemanager.{name}": f"127.0.0.1:{port + each}" for each, name in enumerate(names)},
        # The capacity scheduler wants queues in a file of its own, for nobody to share them with.
        "yarn.resourcemanager.scheduler.class": f"{SERVER}.resourcemanager.scheduler.fifo.FifoScheduler",
        "yarn.scheduler.minimum-allocation-mb": "128",
    }


def node(folder: Path, megabytes: int) -> dict[str, str]:
    addresses = ("address", "localizer.address", "webapp.address")
    return {
        "yarn.nodemanager.hostname": "127.0.0.1",
        **{f"yarn.nodemanager.{name}": "127.0.0.1:0" for name in addresses},
        "yarn.nodemanager.local-dirs": str(folder / "local"),
        "yarn.nodemanager.log-dirs": str(folder / "containers"),
        "yarn.nodemanager.resource.memory-mb": str(megabytes),
        # A node whose disk is nine tenths full would take no work.
        "yarn.nodemanager.disk-health-checker.enable": "false",
        # A JVM maps more than it ever touches.
        "yarn.nodemanager.vmem-check-enabled": "false",
    }


def main() -> int:
    if not here():
        sys.stderr.write(f"{ABSENT}\n")
        return 3
    cluster = Yarn(Path(sys.argv[1]).absolute()).start()
    told = (f"export {name}={shlex.quote(value)}\n" for name, value in cluster.environ().items())
    sys.stdout.write("".join(told) + f"# Then `penstock up` in that shell. Pages: {cluster.page}. Ctrl-C ends it.\n")
    sys.stdout.flush()
    for end in (signal.SIGINT, signal.SIGTERM):
        signal.signal(end, lambda *_: None)
    signal.pause()
    cluster.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
