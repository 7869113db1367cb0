"""What is wrong at set-up, brought about for real: what the tools then print becomes one sentence with the way out."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import penstock.ops.setup.__main__ as setup
from penstock.ops.setup import failure, jars, java, packages

NOWHERE = "http://127.0.0.1:9"
UV = Path(sys.prefix, "bin", "uv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project's folder with an empty environment, this run's own uv, and a lock of one package."""
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, tmp_path / ".venv"], check=True)
    (tmp_path / ".venv" / "bin" / "uv").symlink_to(UV)
    wheel = made_wheel(tmp_path)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (tmp_path / "requirements.lock").write_text(f"thing==1.0 --hash=sha256:{digest}\n")
    return tmp_path


def made_wheel(folder: Path) -> Path:
    wheel = folder / "thing-1.0-py3-none-any.whl"
    info = "thing-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("thing.py", "")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", f"thing.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return wheel


@pytest.fixture
def alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same without a network and with empty caches."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        monkeypatch.setenv(name, f"{NOWHERE}/simple")
    for name in ("UV_FIND_LINKS", "UV_EXTRA_INDEX_URL", "UV_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("UV_CACHE_DIR", str(folder / "cache"))
    return folder


def test_without_a_network_packages_say_so(alone: Path) -> None:
    with pytest.raises(failure.SetupFailure, match=r"^Python packages: a download failed. Check the network"):
        packages.install(alone)


def test_a_wheel_with_other_bytes_is_not_installed(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (alone / "thing-1.0-py3-none-any.whl").open("ab") as wheel:
        wheel.write(b"\0")
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(alone))
    with pytest.raises(failure.SetupFailure, match=r"requirements.lock pins.*do not trust the source"):
        packages.install(alone)
    assert not list(alone.glob(".venv/lib/*/site-packages/thing.py"))


def test_without_a_network_jars_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = "-Dhttp{0}.proxyHost=127.0.0.1 -Dhttp{0}.proxyPort=9"
    cache = f"-Divy.default.ivy.user.dir={tmp_path}/ivy -Duser.home={tmp_path}"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"{cache} {proxy.format('')} {proxy.format('s')}")
    with pytest.raises(failure.SetupFailure, match=r"^jars: a download failed. Check the network"):
        jars.retrieve(Path(sys.prefix), tmp_path / "jars")


def test_an_old_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "java").write_text("#!/bin/sh\necho 'openjdk version \"11.0.20\" 2023-07-18' >&2\n")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(failure.SetupFailure, match=r"17 or newer is needed and Java 11 is on PATH.*Install it"):
        java.check()


def test_a_disk_without_room_is_said_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "ROOM", shutil.disk_usage(tmp_path).total + 1)
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    monkeypatch.setattr(setup, "VENV", tmp_path / ".venv")
    with pytest.raises(failure.SetupFailure, match="Free space and run `make setup` again"):
        setup.room()


def test_a_folder_that_cannot_be_written_is_said() -> None:
    """The kernel's own file system of devices: not even root can write there."""
    with pytest.raises(failure.SetupFailure, match="cannot be written"):
        packages.make_venv(Path("/sys"), afresh=False)


@pytest.mark.parametrize(
    ("failing", "sentence"),
    [
        (failure.SetupFailure("no Java is on PATH. Install it."), "no Java is on PATH. Install it."),
        (OSError(28, "No space left on device"), "the disk is full. Free about 3 GB and run `make setup` again."),
    ],
    ids=["a step's own sentence", "what the system says"],
)
def test_a_step_that_fails_is_one_line_and_a_status(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failing: Exception, sentence: str
) -> None:
    def fails() -> None:
        raise failing

    monkeypatch.setattr(setup, "ROOT", folder)
    monkeypatch.setattr(setup, "VENV", folder / ".venv")
    monkeypatch.setattr(setup, "STAMP", folder / ".venv" / ".set-up")
    monkeypatch.setattr(setup, "wanted", lambda: "something new")
    monkeypatch.setattr(java, "check", fails)
    assert setup.main() == 3
    assert capsys.readouterr().err == f"set-up: {sentence}\n"
    assert not setup.STAMP.exists()
