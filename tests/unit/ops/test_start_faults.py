"""What is wrong at a start: one sentence with the way out, and nothing is started or harmed."""

import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.ops.stack import home as homes
from penstock.ops.stack import orphans, run
from penstock.refusal import Refusal
from penstock.settings import Settings


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.mark.parametrize("part", ["collector", "serve", "airflow", "kafka"])
def test_a_taken_port_is_refused_with_the_setting_that_moves_it(settings: Settings, taken: int, part: str) -> None:
    ours = replace(settings, home=settings.home / "home", kafka="", **{f"{part}_port": taken})
    with pytest.raises(Refusal, match=rf"Port {taken} of the .* is taken.*PENSTOCK_{part.upper()}_PORT"):
        run.start(replace(ours, kafka=f"127.0.0.1:{ours.kafka_port}"), detach=True)
    assert orphans.processes(homes.open_home(ours.home).stack) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 16 MB, where this user may mount one."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "none", tmp_path], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    yield tmp_path
    subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_a_small_disk_is_refused_before_anything_starts(settings: Settings, small_disk: Path) -> None:
    with pytest.raises(Refusal, match=r"has 1\d MB free and 512 MB are needed. Free space, or set PENSTOCK_HOME"):
        run.start(replace(settings, home=small_disk / "home"), detach=True, rows=[])


def test_a_disk_that_fills_at_a_start_is_a_sentence(
    settings: Settings, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(homes, "ROOM", 0)
    (small_disk / "filler").write_bytes(bytes(15 * 2**20))
    with (small_disk / "rest").open("wb", buffering=0) as rest, pytest.raises(OSError, match="No space"):
        while True:
            rest.write(bytes(4096))
    with pytest.raises(Refusal, match=r"is full\. Free space"):
        run.start(replace(settings, home=small_disk / "home"), detach=True, rows=[])
