"""docker-compose.yaml, Dockerfile and deploy/ say what the product needs; no Docker engine has run them here."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest

from penstock.collect.metrics import HELP
from penstock.ops.airflow.environment import environment
from penstock.serve.metrics import Metrics
from penstock.settings import Settings

PROJECT = Path(__file__).parents[2]
TEXT = (PROJECT / "docker-compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]
# What the Dockerfile says of each role.
IMAGES = dict(re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM|\Z)", (PROJECT / "Dockerfile").read_text(), re.M | re.S))
# They end when their work is done.
ERRANDS = {"airflow-init", "store-init"}

# What the product is made of on several machines; a service more is no fault, one less is.
NEEDED = {
    *("kafka-1", "kafka-2", "kafka-3", "store", "store-init", "postgres"),
    *("airflow-init", "airflow-api", "airflow-scheduler", "airflow-dag-processor", "airflow-triggerer"),
    *("spark-master", "spark-worker", "collector", "serve", "prometheus", "grafana"),
}

every_service = pytest.mark.parametrize("name", SERVICES)


def test_no_part_of_the_product_is_left_out() -> None:
    assert set(SERVICES) >= NEEDED


@every_service
def test_an_image_has_a_version(name: str) -> None:
    assert re.fullmatch(r"[\w./-]+:(?!latest)[\w.-]*\d[\w.-]*", SERVICES[name]["image"])


@every_service
def test_a_service_has_limits(name: str) -> None:
    assert set(SERVICES[name]["deploy"]["resources"]["limits"]) == {"cpus", "memory"}


@every_service
def test_a_service_that_stays_says_whether_it_is_well(name: str) -> None:
    service = SERVICES[name]
    if name not in ERRANDS:
        assert "healthcheck" in service or "HEALTHCHECK" in IMAGES[service["build"]["target"]]


@every_service
def test_a_service_waits_for_services_that_are_there(name: str) -> None:
    for other, how in SERVICES[name].get("depends_on", {}).items():
        finishes = how["condition"] == "service_completed_successfully"
        assert other in SERVICES and finishes == (other in ERRANDS)


@every_service
def test_a_volume_is_declared(name: str) -> None:
    for volume in SERVICES[name].get("volumes", []):
        source = volume.split(":")[0]
        assert (PROJECT / source).is_dir() if source.startswith("./") else source in COMPOSE["volumes"]


@every_service
def test_a_published_port_is_on_loopback_unless_asked(name: str) -> None:
    assert all(port.startswith("${PENSTOCK_PUBLISH:-127.0.0.1}:") for port in SERVICES[name].get("ports", []))


def test_a_secret_has_no_default() -> None:
    names = re.findall(r"\$\{(\w+)([^}]*)\}", TEXT)
    assert {name for name, rest in names if not rest.startswith(":?")} == {"PENSTOCK_LAKE", "PENSTOCK_PUBLISH"}
    assert {name for name, _ in names} == set(
        re.findall(r"^(\w+)=", (PROJECT / "deploy/env.example").read_text(), re.M)
    )


def test_a_password_is_never_written_down() -> None:
    secret = re.compile(r"(PASSWORD|SECRET|_KEY)")
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            assert not secret.search(name) or "${" in value or value.startswith("/"), name


def test_the_parts_find_each_other() -> None:
    environ = SERVICES["serve"]["environment"]
    settings = Settings.from_env(environ)
    hosts = [address.split(":")[0] for address in settings.kafka.split(",")]
    addresses = (settings.spark_master, environ["AWS_ENDPOINT_URL"], settings.serve_at, settings.airflow_at)
    hosts += [re.split(r"[:/]+", address)[1] for address in addresses]
    assert set(hosts) <= set(SERVICES)


@pytest.mark.parametrize("name", ["serve", "airflow-scheduler"])
def test_serve_and_airflow_are_asked_at_the_ports_on_which_they_listen(name: str) -> None:
    settings = Settings.from_env(SERVICES[name]["environment"])
    for address in (settings.serve_at, settings.airflow_at):
        _, host, port = re.split(r"[:/]+", address)
        assert listens(host, int(port)), address


def listens(service: str, port: int) -> bool:
    return f"EXPOSE {port}" in IMAGES[SERVICES[service]["build"]["target"]]


# What PENSTOCK_HOME is in every container.
HOME = "/home/penstock/home"


@pytest.mark.parametrize("name", ["serve", "airflow-api", "airflow-scheduler"])
def test_who_needs_the_users_passwords_has_the_file_before_it_starts(name: str) -> None:
    assert SERVICES["airflow-init"]["secrets"] == ["airflow-passwords"]
    assert f"/run/secrets/airflow-passwords {HOME}/passwords.json" in str(SERVICES["airflow-init"]["command"])
    assert f"home:{HOME}" in SERVICES[name]["volumes"] and "airflow-init" in SERVICES[name]["depends_on"]


def test_airflow_logs_in_by_the_file_that_the_home_keeps() -> None:
    environ = SERVICES["airflow-api"]["environment"]
    assert environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"] == f"{HOME}/passwords.json"
    assert f"PENSTOCK_HOME={HOME}" in IMAGES["base"]


def test_airflow_is_told_what_it_is_told_on_one_machine(settings: Settings) -> None:
    assert set(environment(settings)) <= set(SERVICES["airflow-scheduler"]["environment"])


def test_who_writes_or_reads_the_lake_has_the_store_and_its_keys() -> None:
    named = {"PENSTOCK_LAKE", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    told = {name for name, service in SERVICES.items() if named <= set(service.get("environment", {}))}
    drivers = {name for name in SERVICES if name.startswith("airflow-")}
    assert told >= drivers | {"spark-worker", "serve"}
    assert re.search(r"\$\{PENSTOCK_LAKE:-s3a://lake\}", TEXT)
    assert "store/lake" in SERVICES["store-init"]["command"]


def test_three_brokers_have_what_is_acknowledged() -> None:
    brokers = [SERVICES[f"kafka-{number}"]["environment"] for number in (1, 2, 3)]
    assert {broker["KAFKA_NODE_ID"] for broker in brokers} == {1, 2, 3}
    assert all((b["KAFKA_DEFAULT_REPLICATION_FACTOR"], b["KAFKA_MIN_INSYNC_REPLICAS"]) == (3, 2) for b in brokers)


def test_prometheus_asks_services_at_the_ports_on_which_they_listen() -> None:
    told = yaml.safe_load((PROJECT / "deploy/prometheus/prometheus.yaml").read_text())["scrape_configs"]
    found = [(name, each["port"]) for job in told for each in job["dns_sd_configs"] for name in each["names"]]
    assert {name for name, _ in found} == {"collector", "serve"}
    assert all(listens(name, port) for name, port in found)


def compose(*command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["docker", "compose", *command], cwd=PROJECT, env={"PATH": os.environ["PATH"], **environ},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def has_compose() -> bool:
    return shutil.which("docker") is not None and compose("version").returncode == 0


@pytest.mark.skipif(not has_compose(), reason="docker has no compose plugin here")
def test_docker_takes_the_file_with_every_setting_of_the_example(tmp_path: Path) -> None:
    filled = re.sub(r"(?m)^(\w+)=$", r"\1=filled-in", (PROJECT / "deploy/env.example").read_text())
    (tmp_path / "env").write_text(filled)
    taken = compose("--env-file", str(tmp_path / "env"), "config", "--quiet")
    assert taken.returncode == 0, taken.stderr


def test_a_dashboard_asks_for_what_the_parts_count() -> None:
    counted = set(HELP) | set(re.findall(r"^# HELP (\w+)", generate_latest(Metrics().registry).decode(), re.M))
    boards = (PROJECT / "deploy/grafana/dashboards").glob("*.json")
    asked = [
        target["expr"]
        for board in boards
        for panel in json.loads(board.read_text())["panels"]
        for target in panel["targets"]
    ]
    asked += re.findall(r"expr: (.*)", (PROJECT / "deploy/prometheus/alerts.yaml").read_text())
    names = {re.sub(r"_bucket$", "", name) for expr in asked for name in re.findall(r"penstock_\w+", expr)}
    assert names and names <= counted


def test_the_health_check_tells_a_dead_part() -> None:
    script = str(PROJECT / "deploy/healthy.py")
    ran = subprocess.run([sys.executable, script, "http://127.0.0.1:9/"], capture_output=True, check=False)
    assert ran.returncode != 0


@pytest.mark.parametrize("name", ["s3", "flink"])
def test_jars_that_lie_apart_are_pinned(name: str) -> None:
    pins = (PROJECT / "deploy" / name / "jars.sha256").read_text().splitlines()
    versions = re.findall(r'name="([\w-]+)" rev="([\w.-]+)"', (PROJECT / "deploy" / name / "ivy.xml").read_text())
    assert {f"{name}-{revision}.jar" for name, revision in versions} <= {line.split()[1] for line in pins}
