"""What every Spark job runs with, however it is started."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.lake.spark_settings import spark_conf
from penstock.settings import Settings

LOCAL = Settings(home=Path("home"), lake="home/lake", kafka="")


@pytest.mark.parametrize(("scheme", "store"), [("file", "LinkLogStore"), ("s3a", "PutLogStore"), ("s3", "PutLogStore")])
@pytest.mark.parametrize("master", ["local[2]", "spark://host:7077"])
def test_every_lake_has_a_store_that_lets_one_writer_win(scheme: str, store: str, master: str) -> None:
    conf = spark_conf(replace(LOCAL, spark_master=master))
    assert conf[f"spark.delta.logStore.{scheme}.impl"] == f"penstock.lake.{store}"


def test_jars_are_shipped_to_a_cluster_only() -> None:
    assert "spark.jars" not in spark_conf(LOCAL)
    assert "spark.jars" in spark_conf(replace(LOCAL, spark_master="spark://host:7077"))


def test_a_stream_is_compiled_fully_and_a_short_job_quickly() -> None:
    options = [spark_conf(LOCAL, short=short)["spark.driver.extraJavaOptions"] for short in (False, True)]
    assert ["TieredStopAtLevel=1" in each for each in options] == [False, True]


def test_a_dag_file_may_read_the_settings() -> None:
    code = "import sys, penstock.lake.spark_settings; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
