"""The doctor: well on the machine that runs the tests, and each illness named with its remedy."""

import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

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


Ill = Callable[[pytest.MonkeyPatch, Path], None]


def no_java(patch: pytest.MonkeyPatch, folder: Path) -> None:
    patch.setenv("PATH", str(folder))


def an_old_java(patch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "java").write_text("#!/bin/sh\necho 'openjdk version \"11.0.20\"' >&2\n")
    (folder / "java").chmod(0o755)
    patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("check", "ill", "told", "mend"),
    [
        (
            doctor.python,
            lambda p, _: p.setattr(sys, "version_info", (3, 10, 2)),
            ".",
            "make clean setup PENSTOCK_PYTHON",
        ),
        (doctor.java_version, no_java, "not on PATH", "apt-get install openjdk-17"),
        (doctor.java_version, an_old_java, "11", "apt-get install openjdk-17"),
        (doctor.memory, lambda p, _: p.setattr(doctor, "MEMORY", 2**60), "GB", "PENSTOCK_SPARK_MASTER='local[1]'"),
        (doctor.disk, lambda p, _: p.setattr(doctor, "DISK", 2**60), "GB free at", "export PENSTOCK_HOME="),
        (
            doctor.jar_hashes,
            lambda p, folder: p.setattr(sys, "prefix", str(folder)),
            "missing or changed",
            "make setup",
        ),
    ],
    ids=["an old Python", "no Java", "an old Java", "little memory", "a full disk", "no jars"],
)
def test_each_illness_is_told_with_what_mends_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory,
    check: Callable[[Settings], doctor.Finding], ill: Ill, told: str, mend: str,
) -> None:  # fmt: skip
    ill(monkeypatch, tmp_path_factory.mktemp("machine"))
    finding = check(settings)
    monkeypatch.undo()
    assert not finding.well and told in finding.told and mend in finding.mend, finding


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
