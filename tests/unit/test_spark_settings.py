"""What every Spark job runs with, however it is started."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.lake import spark_settings
from penstock.lake.spark_settings import spark_conf
from penstock.settings import SettingError, Settings

LOCAL = Settings(home=Path("home"), lake="home/lake", kafka="")
STORE = replace(LOCAL, lake="s3a://bucket/lake", store="http://store:9000", store_region="eu-west-1")


@pytest.mark.parametrize(("scheme", "store"), [("file", "LinkLogStore"), ("s3a", "PutLogStore"), ("s3", "PutLogStore")])
@pytest.mark.parametrize("master", ["local[2]", "spark://host:7077"])
def test_every_lake_has_a_store_that_lets_one_writer_win(scheme: str, store: str, master: str) -> None:
    conf = spark_conf(replace(LOCAL, spark_master=master))
    assert conf[f"spark.delta.logStore.{scheme}.impl"] == f"penstock.lake.{store}"


def test_jars_are_shipped_to_a_cluster_only() -> None:
    assert "spark.jars" not in spark_conf(LOCAL)
    assert "spark.jars" in spark_conf(replace(LOCAL, spark_master="spark://host:7077"))


def test_jars_are_used_where_they_are_on_nodes_of_yarn() -> None:
    conf = spark_conf(replace(LOCAL, spark_master="yarn"))
    assert all(each.startswith("local:///") for each in [*conf["spark.jars"].split(","), conf["spark.yarn.jars"]])


@pytest.fixture
def store_jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(spark_settings, "STORE_JARS", tmp_path)
    return tmp_path


def test_a_lake_on_a_store_asks_for_the_jars_that_it_needs(store_jars: Path) -> None:
    with pytest.raises(SettingError, match="make s3"):
        spark_conf(STORE)


@pytest.mark.parametrize("master", ["local[2]", "spark://host:7077"])
def test_a_lake_on_a_store_is_reached_where_the_settings_say(store_jars: Path, master: str) -> None:
    (store_jars / "hadoop-aws-1.jar").touch()
    conf = spark_conf(replace(STORE, spark_master=master))
    told = {name: conf[f"spark.hadoop.fs.s3a.{name}"] for name in ("endpoint", "path.style.access", "endpoint.region")}
    assert list(told.values()) == ["http://store:9000", "true", "eu-west-1"]
    assert str(store_jars) in conf["spark.driver.extraClassPath"]
    assert (str(store_jars) in conf.get("spark.jars", "")) == (master != "local[2]")


def test_a_local_lake_knows_no_store() -> None:
    assert not any("s3a" in name for name in spark_conf(LOCAL) if "logStore" not in name)


def test_a_long_job_is_compiled_fully_and_a_short_one_quickly() -> None:
    quick = replace(LOCAL, compiler="quick")
    confs = [spark_conf(LOCAL), spark_conf(LOCAL, short=True), spark_conf(quick)]
    options = [conf["spark.driver.extraJavaOptions"] for conf in confs]
    assert ["TieredStopAtLevel=1" in each for each in options] == [False, True, True]


def test_a_dag_file_may_read_the_settings() -> None:
    code = "import sys, penstock.lake.spark_settings; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
