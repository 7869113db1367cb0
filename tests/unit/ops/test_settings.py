"""Settings come from the environment once, and go to children whole."""

from pathlib import Path

import pytest

from penstock.settings import SettingError, Settings


def test_children_get_the_same_settings(tmp_path: Path) -> None:
    ours = Settings.from_env({"PENSTOCK_HOME": str(tmp_path), "PENSTOCK_KAFKA_PORT": "19092"})
    assert Settings.from_env(ours.to_env()) == ours


@pytest.mark.parametrize("text", ["0", "65536", "-1", "eighty", "", "8080 "])
def test_a_port_that_cannot_be_is_refused_by_name(text: str) -> None:
    with pytest.raises(SettingError, match="PENSTOCK_AIRFLOW_PORT"):
        Settings.from_env({"PENSTOCK_AIRFLOW_PORT": text})


@pytest.mark.parametrize("text", ["0", "-2", "inf", "nan", "six"])
def test_a_shift_is_a_positive_number_of_hours(text: str) -> None:
    with pytest.raises(SettingError, match="PENSTOCK_SHIFT_HOURS"):
        Settings.from_env({"PENSTOCK_SHIFT_HOURS": text})
