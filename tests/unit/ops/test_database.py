"""Where Airflow's tables are, and what is said of an address that cannot work."""

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.ops.stack import database, trial
from penstock.refusal import Refusal
from penstock.settings import Settings


def test_without_a_setting_it_is_a_file_that_waits_for_its_writers(settings: Settings) -> None:
    assert database.address(settings, Path("/home")) == "sqlite:////home/airflow.db?timeout=60"
    database.check(settings)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("postgres", "no address"),
        ("mysql://airflow:hush@127.0.0.1/airflow", "names 'mysql'"),
        ("postgresql+asyncpg://airflow:hush@127.0.0.1/airflow", "names 'postgresql\\+asyncpg'"),
        (f"postgresql+psycopg2://airflow:hush@127.0.0.1:{trial.free_port()}/airflow", "refused"),
    ],
    ids=["no address", "another product", "another driver", "nobody there"],
)
def test_an_address_that_cannot_work_is_refused_without_its_password(
    settings: Settings, address: str, why: str
) -> None:
    with pytest.raises(Refusal, match=why) as refused:
        database.check(replace(settings, database=address))
    assert "hush" not in str(refused.value) and "unset it" in str(refused.value)
