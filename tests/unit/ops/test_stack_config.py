"""What the stack tells its parts."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.ops.stack import airflow, config
from penstock.ops.stack.broker import broker
from penstock.ops.stack.home import open_home
from penstock.ops.stack.parts import parts
from penstock.settings import SettingError, Settings


@pytest.mark.parametrize(
    ("master", "connection"),
    [
        ("local[2]", {"host": "local[2]"}),
        ("spark://master:7077", {"host": "spark://master", "port": 7077}),
        ("k8s://https://api:6443", {"host": "k8s://https://api", "port": 6443}),
        ("yarn", {"host": "yarn"}),
    ],
)
def test_jobs_go_to_the_spark_of_the_settings(master: str, connection: dict[str, object]) -> None:
    assert connection.items() <= airflow.spark(master).items()


def test_addresses_of_airflow_follow_its_port(settings: Settings) -> None:
    environ = airflow.environ(replace(settings, airflow_port=18080), open_home(settings.home))
    assert environ["AIRFLOW__API__BASE_URL"] == "http://127.0.0.1:18080"
    assert environ["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"] == "http://127.0.0.1:18080/execution/"


def test_one_setting_moves_airflow_to_postgresql(settings: Settings) -> None:
    address = "postgresql+psycopg2://airflow@127.0.0.1/airflow"
    environ = airflow.environ(replace(settings, database=address), open_home(settings.home))
    assert environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] == address


def test_an_operators_own_setting_of_airflow_wins(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__CORE__PARALLELISM", "99")
    assert config.environ(settings, open_home(settings.home))["AIRFLOW__CORE__PARALLELISM"] == "99"


def test_an_operators_own_connection_to_spark_wins(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    own = '{"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": "cluster"}}'
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_LAKE", own)
    assert config.environ(settings, open_home(settings.home))["AIRFLOW_CONN_SPARK_LAKE"] == own


def test_stream_groups_that_cannot_be_are_refused_before_anything_starts(settings: Settings) -> None:
    with pytest.raises(SettingError, match=r"PENSTOCK_STREAM_GROUPS: there is no source or domain 'web\.clicks'"):
        airflow.environ(replace(settings, stream_groups="clicks=web.clicks"), open_home(settings.home))


def test_facts_that_cannot_expire_are_refused_before_anything_starts(settings: Settings) -> None:
    with pytest.raises(SettingError, match=r"PENSTOCK_RETENTION: facts of web\.identities must stay"):
        airflow.environ(replace(settings, retention="silver/web.identities=90"), open_home(settings.home))


def test_jobs_can_read_the_connection(settings: Settings) -> None:
    environ = airflow.environ(settings, open_home(settings.home))
    assert json.loads(environ["AIRFLOW_CONN_SPARK_LAKE"])["conn_type"] == "spark"


def test_somebody_elses_kafka_starts_no_broker(settings: Settings) -> None:
    ours = replace(settings, kafka=f"127.0.0.1:{settings.kafka_port}")
    theirs = replace(settings, kafka="kafka1:9092,kafka2:9092")
    assert "broker" in {part.name for part in parts(ours)}
    assert "broker" not in {part.name for part in parts(theirs)}


def test_a_percent_sign_in_a_path_is_no_variable(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> None:
    # A short path: a socket stands below it.
    odd = replace(settings, home=tmp_path_factory.mktemp("p") / "100%(x)s")
    assert "100%%(x)s" in config.supervisord(open_home(odd.home), parts(odd))


def test_what_dag_files_import_is_there_before_they_are_read_and_is_not_heavy() -> None:
    code = (
        "import sys; from penstock.ops.stack.airflow import PROJECT, imported; imported(PROJECT / 'dags');"
        "sys.exit('penstock.ops.airflow.steps' not in sys.modules or bool({'pyspark', 'delta', 'pandas', "
        "'great_expectations'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("compiler", ["full", "quick"])
def test_the_broker_is_compiled_as_the_settings_say(settings: Settings, compiler: str) -> None:
    command = broker(replace(settings, compiler=compiler)).command()
    assert ("-XX:TieredStopAtLevel=1" in command) == (compiler == "quick")


def test_a_broker_has_the_archive_that_set_up_made(settings: Settings) -> None:
    kept = [each for each in broker(settings).command() if each.startswith("-XX:SharedArchiveFile=")]
    assert [Path(each.partition("=")[2]).is_file() for each in kept] == [True]
