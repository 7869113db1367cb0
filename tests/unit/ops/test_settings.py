"""Settings come from the environment once, and go to children whole."""

from pathlib import Path

import pytest

from penstock.settings import SettingError, Settings


def test_children_get_the_same_settings(tmp_path: Path) -> None:
    ours = Settings.from_env({"PENSTOCK_HOME": str(tmp_path), "PENSTOCK_KAFKA_PORT": "19092"})
    assert Settings.from_env(ours.to_env()) == ours


def test_a_store_is_told_under_the_names_that_its_other_clients_read() -> None:
    ours = Settings.from_env({"AWS_ENDPOINT_URL": "http://store:9000", "AWS_REGION": "eu-west-1"})
    told = ours.to_env()
    assert (told["AWS_ENDPOINT_URL"], told["AWS_REGION"], told["AWS_ALLOW_HTTP"]) == (
        "http://store:9000", "eu-west-1", "true",
    )  # fmt: skip
    assert Settings.from_env(told) == ours
    assert "AWS_ENDPOINT_URL" not in Settings.from_env({}).to_env()


@pytest.mark.parametrize("text", ["0", "65536", "-1", "eighty", "", "8080 "])
def test_a_port_that_cannot_be_is_refused_by_name(text: str) -> None:
    with pytest.raises(SettingError, match="PENSTOCK_AIRFLOW_PORT"):
        Settings.from_env({"PENSTOCK_AIRFLOW_PORT": text})


def test_parts_are_asked_at_their_ports_here_until_they_are_elsewhere() -> None:
    here = Settings.from_env({"PENSTOCK_SERVE_PORT": "18091"})
    there = Settings.from_env({"PENSTOCK_SERVE_URL": "http://serve:8091/", "PENSTOCK_AIRFLOW_URL": "https://airflow"})
    assert (here.serve_at, here.airflow_at) == ("http://127.0.0.1:18091", "http://127.0.0.1:8080")
    assert (there.serve_at, there.airflow_at) == ("http://serve:8091", "https://airflow")
    assert Settings.from_env(there.to_env()) == there


# A login in an address would stand in every log that names the address.
@pytest.mark.parametrize("text", ["serve:8091", "ftp://serve", "http://", "http://me:secret@serve", "http://a b"])
def test_an_address_that_cannot_be_is_refused_by_name(text: str) -> None:
    with pytest.raises(SettingError, match="PENSTOCK_SERVE_URL"):
        Settings.from_env({"PENSTOCK_SERVE_URL": text})


def test_a_compiler_is_full_or_quick() -> None:
    assert Settings.from_env({"PENSTOCK_COMPILER": ""}).compiler == "full"
    assert Settings.from_env({"PENSTOCK_COMPILER": "quick"}).compiler == "quick"
    with pytest.raises(SettingError, match="Set it to full or quick, or leave it out"):
        Settings.from_env({"PENSTOCK_COMPILER": "fast"})


@pytest.mark.parametrize("name", ["PENSTOCK_SHIFT_HOURS", "PENSTOCK_REVERT_DAYS"])
@pytest.mark.parametrize("text", ["0", "-2", "inf", "1e9", "nan", "six"])
def test_a_length_of_time_is_a_positive_number_of_some_reason(name: str, text: str) -> None:
    with pytest.raises(SettingError, match=name):
        Settings.from_env({name: text})


def test_lineage_stays_in_the_home_until_somebody_names_a_server(tmp_path: Path) -> None:
    here = Settings.from_env({"PENSTOCK_HOME": str(tmp_path)})
    there = Settings.from_env({"PENSTOCK_LINEAGE": "http://lineage:5000/"})
    other = Settings.from_env({"PENSTOCK_LINEAGE": '{"type": "console"}'})
    told = [(each.lineage_to["type"], each.lineage_to.get("url")) for each in (here, there, other)]
    assert told == [("file", None), ("http", "http://lineage:5000"), ("console", None)]
    assert here.lineage_to["log_file_path"] == f"{tmp_path}/logs/lineage.jsonl"
    assert Settings.from_env(other.to_env()) == other


@pytest.mark.parametrize("text", ["lineage:5000", "{", "{}", '{"type": 5}', '["http"]', "http://me:secret@lineage"])
def test_a_place_for_lineage_that_cannot_be_is_refused_by_name(text: str) -> None:
    with pytest.raises(SettingError, match="PENSTOCK_LINEAGE"):
        Settings.from_env({"PENSTOCK_LINEAGE": text})
