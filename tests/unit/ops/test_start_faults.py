"""What is wrong at a start: one sentence with the way out, and nothing is started or harmed."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from disks import filled, small_disk

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
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path, megabytes=16) as mounted:
        yield mounted


def test_a_small_disk_is_refused_before_anything_starts(settings: Settings, disk: Path) -> None:
    with pytest.raises(Refusal, match=r"has 1\d MB free and 512 MB are needed. Free space, or set PENSTOCK_HOME"):
        run.start(replace(settings, home=disk / "home"), detach=True, rows=[])


def test_a_disk_that_fills_at_a_start_is_a_sentence(
    settings: Settings, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(homes, "ROOM", 0)
    filled(disk)
    with pytest.raises(Refusal, match=r"is full\. Free space"):
        run.start(replace(settings, home=disk / "home"), detach=True, rows=[])
