"""Jars that not every machine needs lie apart: a folder of deploy/ names and pins them, a `make` target brings them."""

import shutil
import sys
import tempfile
from pathlib import Path

from penstock.ops.setup.failure import SetupFailure
from penstock.ops.setup.jars import retrieve, wrong


def fetch(folder: Path, jars: Path) -> None:
    """What `folder` names in ivy.xml and pins in jars.sha256. Beside its place first: what is there is whole."""
    pins = folder / "jars.sha256"
    if not wrong(jars, pins):
        return
    with tempfile.TemporaryDirectory(dir=jars.parent) as name:
        fresh = Path(name, jars.name)
        retrieve(Path(sys.prefix), fresh, folder / "ivy.xml", "[artifact]-[revision].[ext]")
        if bad := wrong(fresh, pins):
            raise SetupFailure(f"{jars.name} jars: {bad[0]} has not the bytes that jars.sha256 pins. None was used.")
        shutil.rmtree(jars, ignore_errors=True)
        fresh.rename(jars)


def main(folder: Path, jars: Path) -> int:
    try:
        fetch(folder, jars)
    except SetupFailure as failure:
        sys.stderr.write(f"set-up: {failure}\n")
        return 3
    return 0
