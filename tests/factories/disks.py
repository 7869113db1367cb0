"""Disks that are soon full, where this user may mount one."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BLOCK = 4096


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", folder]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def filled(disk: Path) -> Path:
    """Takes the last block of it. The file that holds them all, for who wants room again."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as rest, pytest.raises(OSError, match="No space"):
        while True:
            rest.write(bytes(BLOCK))
    return ballast
