"""A disk that is full stops the streams and loses nothing: with room again they go on, and nobody has to do more."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from disks import filled, small_disk
from faults.killing import PATIENCE, TOPIC, Scene, settings_of, until, verdict

from penstock.ops.load.mortal import MortalBroker

# A driver, its lake and its checkpoints take some tens of megabytes in a minute.
MEGABYTES = 256
# Several epochs find no room, of each stream.
FULL_SECONDS = 20.0


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """The log is elsewhere: what a broker does on a full disk is its own."""
    log, disk = MortalBroker(tmp_path / "broker").ready(), tmp_path / "disk"
    disk.mkdir()
    try:
        with small_disk(disk, MEGABYTES):
            (disk / "home").mkdir()
            yield Scene(settings_of(disk / "home", log), log, seed=5)
    finally:
        log.kill()


def started_again(scene: Scene, driver: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes]":
    """As Airflow does with a driver that ended."""
    return driver if driver.poll() is None else scene.start()


@pytest.mark.skipif(not os.environ.get("PENSTOCK_FULL"), reason="a minute with a driver of its own: make faults")
def test_streams_go_on_where_they_were_when_a_full_disk_has_room_again(scene: Scene) -> None:
    silver, bronze = scene.layout.silver("r1", TOPIC), scene.layout.bronze(TOPIC)
    sender, driver = Thread(target=scene.send), scene.start()
    sender.start()
    try:
        scene.advance(2)
        ballast, before = filled(scene.settings.home.parent), scene.sent
        time.sleep(FULL_SECONDS)
        waiting = scene.sent - scene.rows(silver, "offset").num_rows
        ballast.unlink()
        driver = started_again(scene, driver)
        scene.advance(2)
    finally:
        scene.over.set()
        sender.join()
    for path in (silver, bronze):
        until(lambda path=path: scene.rows(path, "offset").num_rows >= scene.sent, f"end of {path}")  # type: ignore[misc]
    driver.terminate()
    driver.wait(PATIENCE)
    # Or it was not full: records were sent all the time.
    assert waiting > (scene.sent - before) / 3
    assert verdict(scene) == []
