"""A driver that dies at an exact system call, whichever of its processes and threads makes it, loses nothing.

Named points (points.py) are steps of ours; these are the kernel's: a name that is given to a file, a file that is
written through. What libraries do between two steps is cut here as well.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import psutil
import pytest
from faults.killing import PATIENCE, TOPIC, Scene, settings_of, until, verdict

from penstock.ops.load.mortal import MortalBroker

LINK, RENAME, SYNC = "link,linkat", "rename,renameat2", "fsync,fdatasync"
# By link(2) commits and files of checkpoints get their names; what a stream says of itself by rename(2), in Python.
CALLS = [("python", LINK), ("python", RENAME), ("python", SYNC), ("java", LINK), ("java", SYNC)]

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PENSTOCK_FULL"), reason="a minute for each call: make faults"),
    pytest.mark.skipif(shutil.which("strace") is None, reason="NO STRACE HERE: apt-get install strace"),
]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    log = MortalBroker(tmp_path / "broker").ready()
    (tmp_path / "home").mkdir()
    try:
        yield Scene(settings_of(tmp_path / "home", log), log, seed=23)
    finally:
        log.kill()


def dies(scene: Scene, whom: str, calls: str) -> None:
    """A driver with an epoch behind it, of which the Python or the JVM is killed where a thread next makes such a call.

    Only these calls are looked at, so others cost nothing.
    """
    driver = scene.start()
    scene.advance()
    family = [psutil.Process(driver.pid), *psutil.Process(driver.pid).children(recursive=True)]
    victim = next(each.pid for each in family if each.name().startswith(whom))
    kill = f"inject={calls}:signal=SIGKILL"
    looking = ["strace", "--follow-forks", "--output=/dev/null", f"--trace={calls}", "-e", kill, f"--attach={victim}"]
    subprocess.run(looking, check=False, timeout=PATIENCE)
    driver.wait(PATIENCE)
    _, left = psutil.wait_procs(family, PATIENCE)
    assert not left


@pytest.mark.parametrize(("whom", "calls"), CALLS)
def test_every_row_is_right_after_a_death_at_a_system_call(scene: Scene, whom: str, calls: str) -> None:
    sender = Thread(target=scene.send)
    sender.start()
    try:
        dies(scene, whom, calls)
        driver = scene.start()
        scene.advance(2)
    finally:
        scene.over.set()
        sender.join()
    for path in (scene.layout.silver("r1", TOPIC), scene.layout.bronze(TOPIC)):
        until(lambda path=path: scene.rows(path, "offset").num_rows >= scene.sent, f"end of {path}")  # type: ignore[misc]
    driver.terminate()
    driver.wait(PATIENCE)
    assert verdict(scene) == []
