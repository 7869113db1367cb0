"""The same job on a Spark standalone cluster, made of PySpark's own classes: one setting is all that differs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pyspark
import pytest
from deltalake import DeltaTable

from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

JOB = Path(__file__).with_name("cluster_job.py")
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
LOOPBACK = {"SPARK_LOCAL_IP": "127.0.0.1"}
# Five JVMs that live for a minute on two cores: none has time for its second compiler.
QUICK = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}


def started(folder: Path, name: str, *arguments: object) -> subprocess.Popen[bytes]:
    environ = {**os.environ, **LOOPBACK, **QUICK, "SPARK_DAEMON_MEMORY": "256m", "SPARK_WORKER_DIR": str(folder)}
    with (folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            [SPARK_CLASS, f"org.apache.spark.deploy.{name.lower()}.{name}", *map(str, arguments)],
            env=environ, cwd=folder, stdout=log, stderr=log,
        )  # fmt: skip


def wait_for_workers(page: str, number: int) -> None:
    for _ in range(120):
        time.sleep(0.5)
        try:
            with urlopen(page, timeout=5) as answer:  # noqa: S310
                if json.load(answer)["aliveworkers"] == number:
                    return
        except OSError:
            continue
    raise AssertionError(f"the master has not seen {number} workers in a minute")


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The address of a master with two workers of one core each."""
    port, page = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    nodes = [started(tmp_path, "Master", "--host", "127.0.0.1", "--port", port, "--webui-port", page)]
    for _ in range(2):
        worker = ("--cores", 1, "--memory", "600m", "--host", "127.0.0.1", "--webui-port", 0, address)
        nodes.append(started(tmp_path, "Worker", *worker))
    try:
        wait_for_workers(f"http://127.0.0.1:{page}/json/", 2)
        yield address
    finally:
        for node in reversed(nodes):
            node.terminate()
            node.wait(30)


def test_a_job_runs_on_the_workers_of_a_cluster(master: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, lake=str(tmp_path / "lake"), kafka="", spark_master=master, compiler="quick")
    environ = {**os.environ, **LOOPBACK, **settings.to_env()}
    ran = subprocess.run(
        [sys.executable, JOB], env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert json.loads(ran.stdout) == {"total": 499_500, "executors": 2}
    assert DeltaTable(settings.lake).to_pyarrow_table().num_rows == 1_000
