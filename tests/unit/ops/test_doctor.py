"""The doctor: well on the machine that runs the tests, and each illness named with its remedy."""

import os
import socket
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError

import pytest

from penstock.ops import doctor
from penstock.ops.stack.home import open_home
from penstock.settings import Settings


def test_the_machine_of_the_tests_can_run_the_product(settings: Settings) -> None:
    for check in (doctor.python, doctor.java_version, doctor.packages, doctor.jar_hashes, doctor.clock):
        assert check(settings).well, check(settings)


def test_a_doctor_makes_no_home(settings: Settings) -> None:
    fresh = replace(settings, home=settings.home / "none")
    findings = list(doctor.examine(fresh))
    assert len(findings) == len(doctor.CHECKS) + 1 and not fresh.home.exists()


def test_two_versions_of_pyspark_are_ill(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "version", {"pyspark": "4.2.0", "pyspark-client": "4.1.0"}.__getitem__)
    assert doctor.packages(settings).mend == "make setup"


def test_a_missing_package_is_ill(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", missing)
    assert "pyspark is not installed" in doctor.packages(settings).told


def test_a_taken_port_is_named_with_its_holder_and_its_setting(settings: Settings) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        finding = doctor.open_ports(replace(settings, collector_port=port))
    assert f"{port} of the collector" in finding.told
    assert "PENSTOCK_COLLECTOR_PORT" in finding.told and str(os.getpid()) in finding.told


def test_a_clock_that_was_put_back_is_ill(settings: Settings) -> None:
    home = open_home(settings.home / "home")
    (home.run / "epoch").write_text("")
    os.utime(home.run / "epoch", (time.time() + 900, time.time() + 900))
    assert doctor.clock(replace(settings, home=home.folder)).mend.startswith("timedatectl")
