"""Spark's and Kafka's jars: fetched by the Ivy that ships in PySpark, each checked against a committed hash."""

import hashlib
import shutil
import tempfile
from pathlib import Path

from penstock.ops.setup.failure import SetupFailure, run

HERE = Path(__file__).parent
PINS = HERE / "jars.sha256"
NAMES = "[conf]/[artifact]-[revision].[ext]"


def pinned(pins: Path = PINS) -> dict[str, str]:
    """Path under the jars' folder -> sha256, from the committed list (the format of `sha256sum`)."""
    rows = (line.split(maxsplit=1) for line in pins.read_text().splitlines())
    return {name: digest for digest, name in rows}


def wrong(folder: Path, pins: Path = PINS) -> list[str]:
    """Jars that are missing or whose bytes are not the pinned ones."""
    return [name for name, digest in pinned(pins).items() if digest != sha256(folder / name)]


def sha256(jar: Path) -> str:
    return hashlib.sha256(jar.read_bytes()).hexdigest() if jar.is_file() else ""


def fetch(venv: Path) -> None:
    """Brings the jars into the venv. They are checked beside their place and moved there by rename."""
    folder = venv / "share" / "penstock" / "jars"
    folder.mkdir(parents=True, exist_ok=True)
    if not wrong(folder):
        return
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetch-") as fresh:
        retrieve(venv, Path(fresh))
        if bad := wrong(Path(fresh)):
            raise SetupFailure(
                f"jars: {bad[0]} does not have the bytes that jars.sha256 pins (and {len(bad) - 1} more). "
                "None was used. Delete ~/.ivy2/cache and run `make setup` again; "
                "if it repeats, do not trust the source."
            )
        replace(Path(fresh), folder)


def retrieve(venv: Path, folder: Path, wanted: Path = HERE / "ivy.xml", names: str = NAMES) -> None:
    """Resolves an ivy.xml and copies its jars; every set of them into its own folder."""
    ivy = next(iter(sorted(venv.glob("lib/python3.*/site-packages/pyspark/jars/ivy-*.jar"))), None)
    if ivy is None:
        raise SetupFailure("jars: PySpark is not installed whole. Delete .venv and run `make setup` again.")
    run("jars", ["java", "-jar", str(ivy), "-ivy", str(wanted), "-retrieve", f"{folder}/{names}"], HERE)


def replace(fresh: Path, folder: Path) -> None:
    """Moves each set to its place; those that lie apart stay, and the jar that is compiled here is made again."""
    for each in fresh.iterdir():
        shutil.rmtree(folder / each.name, ignore_errors=True)
        each.rename(folder / each.name)
