"""The streaming driver's task: which leases it waits for, and what it tells a driver that runs elsewhere."""

import json
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
from airflow.providers.apache.spark.hooks import spark_submit

from penstock.engine.lease import leases_in, take
from penstock.ops.airflow import pools
from penstock.ops.airflow.clusters import Cluster, exit_status
from penstock.ops.airflow.errors import RequestRefused
from penstock.ops.airflow.steps import SparkStep
from penstock.ops.airflow.streaming import StreamStep
from penstock.settings import Settings

GROUPS = "clicks=web.events"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, lake=str(tmp_path / "lake"), kafka="127.0.0.1:1", stream_groups=GROUPS)


def waiting(settings: Settings, group: str) -> Thread:
    step = StreamStep(task_id="stream", group=group)
    thread = Thread(target=step.await_leases, args=(settings,), daemon=True)
    thread.start()
    return thread


def test_no_driver_is_begun_while_another_has_the_lease(settings: Settings) -> None:
    with take(leases_in(settings.home), "shape-web.events-r1"):
        task = waiting(settings, "streams_clicks")
        sleep(0.2)
        assert task.is_alive()
    task.join(5)
    assert not task.is_alive()


def test_another_group_s_driver_is_not_waited_for(settings: Settings) -> None:
    with take(leases_in(settings.home), "shape-web.events-r1"):
        task = waiting(settings, "streams")
        task.join(5)
        assert not task.is_alive()


def test_a_group_that_is_no_more_is_not_tried_again(settings: Settings) -> None:
    with pytest.raises(RequestRefused, match="no stream group 'streams_gone'"):
        StreamStep(task_id="stream", group="streams_gone").await_leases(settings)


def test_a_group_s_pool_has_the_name_that_its_dag_asks_for(settings: Settings) -> None:
    assert pools.wanted(settings)["streams_clicks"] == pools.wanted(settings)["streams"]


def test_a_python_driver_on_a_standalone_cluster_is_refused_before_spark_refuses_it() -> None:
    with pytest.raises(RequestRefused, match="standalone clusters run no Python driver"):
        Cluster("spark://master:7077", hosts=True)


@pytest.mark.parametrize(("cores", "quick"), [(4, True), (8, False)])
def test_on_few_cores_no_second_compiler_takes_one_from_a_stream(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, cores: int, quick: bool
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    conf = StreamStep(task_id="stream").settings_of(settings)
    assert ("TieredStopAtLevel=1" in conf["spark.driver.extraJavaOptions"]) == quick


@pytest.mark.parametrize("kept", [{}, {"spark_job_id": "application_7_1"}], ids=["none", "its own"])
def test_a_task_looks_at_leases_unless_it_has_a_driver_on_a_cluster(
    monkeypatch: pytest.MonkeyPatch, kept: dict[str, str]
) -> None:
    where = {"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": "cluster"}}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_LAKE", json.dumps(where))
    assert StreamStep(task_id="stream").has_driver({"task_state_store": kept}) == bool(kept)


def test_a_driver_elsewhere_is_told_all_settings_but_the_one_with_a_password(settings: Settings) -> None:
    told = Cluster("yarn", hosts=True).environment(settings)
    assert set(settings.to_env()) - set(told) == {"PENSTOCK_DATABASE"}


def test_a_driver_on_kubernetes_has_a_name_by_which_its_next_try_finds_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = {"conn_type": "spark", "host": "k8s://https://cluster", "extra": {"deploy-mode": "cluster"}}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_LAKE", json.dumps(where))
    monkeypatch.setitem(vars(spark_submit), "kube_client", object())
    step = SparkStep(job="build_views")
    step.conf = step.cluster().conf(step.job, "0192-7")
    hook = step._get_hook()
    assert hook._kubernetes_driver_pod == "penstock-build-views-0192-7-driver"
    assert "spark.kubernetes.driver.pod.name=penstock-build-views-0192-7-driver" in hook._build_spark_submit_command(
        "x"
    )


def test_kubernetes_without_its_provider_says_what_to_install(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = {"conn_type": "spark", "host": "k8s://https://cluster", "extra": {"deploy-mode": "cluster"}}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_LAKE", json.dumps(where))
    with pytest.raises(RequestRefused, match="apache-airflow-providers-cncf-kubernetes"):
        SparkStep(job="stream").sent(settings)


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ("final status: FAILED\nDiagnostics: User application exited with status 3", 3),
        # Of a driver that had no session yet.
        ("due to AM Container for appattempt_1795143782024_0009_000001 exited with  exitCode: 3\nFailing this", 3),
        ("Spark application penstock-stream-7-driver failed (phase=Failed exit_code=2 reason=Error)", 2),
        ("Application application_1795143782024_0009 was killed by user root at 127.0.0.1", None),
    ],
    ids=["on YARN", "on YARN before its session", "on Kubernetes", "killed"],
)
def test_a_driver_s_exit_status_is_read_from_what_its_cluster_tells(told: str, status: int | None) -> None:
    assert exit_status(told) == status
