"""Set-up's checks: each thing that can be wrong is one sentence with the way out."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.ops.setup import failure, jars, java, log_store, packages

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_392"', 8),
        ("command not found", 0),
    ],
)
def test_java_says_which_it_is(text: str, major: int) -> None:
    assert java.version(text) == major


def test_no_java_is_said_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(failure.SetupFailure, match=r"no Java is on PATH.*apt-get install openjdk"):
        java.check()


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("error: failed to write: No space left on device (os error 28)", "disk is full"),
        ("[Errno 30] Read-only file system: '.venv'", "cannot be written"),
        ("Hash mismatch for `duckdb==2.0.0`", "requirements.lock pins"),
        ("error: Failed to fetch: `https://…` dns error: failed to lookup address", "Check the network"),
        ("::  UNRESOLVED DEPENDENCIES  :: java.net.UnknownHostException", "Check the network"),
        ("The virtual environment was not created: ensurepip is not available", "python3-venv"),
        ("something new", "something new"),
    ],
)
def test_what_a_tool_printed_becomes_one_sentence(output: str, sentence: str) -> None:
    assert sentence in failure.cause(output)


def test_a_tool_that_is_not_there_is_a_failure_of_its_step(tmp_path: Path) -> None:
    with pytest.raises(failure.SetupFailure, match=r"^jars: "):
        failure.run("jars", ["no-such-tool"], tmp_path)


def test_a_changed_jar_is_found(tmp_path: Path) -> None:
    name = next(iter(jars.pinned()))
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(b"not the jar")
    assert name in jars.wrong(tmp_path)


def test_a_jar_that_came_changed_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The download is stood in for by one that brings other bytes, as a broken mirror would."""

    def broken(_venv: Path, folder: Path) -> None:
        for name in jars.pinned():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(b"not the jar")

    monkeypatch.setattr(jars, "retrieve", broken)
    good = tmp_path / "share" / "penstock" / "jars" / "spark" / "kept.jar"
    good.parent.mkdir(parents=True)
    good.write_bytes(b"kept")
    with pytest.raises(failure.SetupFailure, match="None was used"):
        jars.fetch(tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["kept.jar"]


def test_the_lock_pins_the_tool_that_installs_it() -> None:
    pin = packages.requirement((ROOT / "requirements.lock").read_text(), "uv")
    assert pin.startswith("uv==") and pin.count("--hash=sha256:") > 3


def test_what_a_stack_imports_is_compiled_and_the_tests_of_others_are_not(tmp_path: Path) -> None:
    packages_folder = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages" / "thing"
    for name in ("__init__.py", "tests/test_thing.py"):
        (packages_folder / name).parent.mkdir(parents=True, exist_ok=True)
        (packages_folder / name).write_text("")
    (tmp_path / ".venv" / "bin").mkdir()
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    packages.compile_all(tmp_path)
    assert [file.parent.parent for file in packages_folder.rglob("*.pyc")] == [packages_folder]


def test_the_same_classes_make_the_same_jar(tmp_path: Path) -> None:
    (tmp_path / "classes" / "a").mkdir(parents=True)
    (tmp_path / "classes" / "a" / "B.class").write_bytes(b"class")
    for name in ("one.jar", "two.jar"):
        log_store.pack(tmp_path / "classes", tmp_path / name)
    assert (tmp_path / "one.jar").read_bytes() == (tmp_path / "two.jar").read_bytes()


def test_without_a_right_python_the_way_out_is_told(tmp_path: Path) -> None:
    """A PATH on which the only Python is too old."""
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 && exit 0\nexit 1\n')
    old.chmod(0o755)
    script = ROOT / "include" / "penstock" / "ops" / "setup" / "python.sh"
    shell = shutil.which("sh") or "/bin/sh"
    told = subprocess.run([shell, script], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert told.returncode == 3
    assert "Python 3.9.2 is here" in told.stderr and "PENSTOCK_PYTHON" in told.stderr


def test_a_target_that_is_not_there_is_answered_with_the_list() -> None:
    told = subprocess.run(
        ["make", "tset"], cwd=ROOT, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False
    )
    assert told.returncode == 2 and "make test" in told.stderr
