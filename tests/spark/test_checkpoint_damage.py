"""A checkpoint is a bookmark: whatever happens to any of its files, the stream goes on where its table ends."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tending import Tended, rows, until

from penstock.engine import checkpoints
from penstock.engine.checkpoints import Place
from penstock.engine.stream import Job
from penstock.settings import Settings


def flipped(content: bytes) -> bytes:
    """The last digit is another one: the file can be read as before, and says something else."""
    at = max((index for index, byte in enumerate(content) if chr(byte).isdigit()), default=0)
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "zeroed": lambda file: file.write_bytes(b"\0" * file.stat().st_size),
    "flipped": lambda file: file.write_bytes(flipped(file.read_bytes())),
    "deleted": lambda file: file.unlink(),
    "emptied": lambda file: file.write_bytes(b""),
}


@pytest.fixture
def stopped(
    spark: SparkSession, broker: str, settings: Settings, jobs: list[Job], send: Callable[..., None]
) -> Iterator[Place]:
    """The place of a shape that was stopped after two epochs, with a third begun and not committed."""
    with Tended(spark, replace(settings, kafka=broker), jobs[1:]) as tended:
        for number in range(2):
            send({"who": "ada", "amount": number}, partition=number)
            rows(jobs[1].place.table, number + 1)
        until(lambda: tended.streams[0].progress.epoch == 1)
    place = jobs[1].place
    begun = Path(place.checkpoint, "offsets")
    (begun / "2").write_text((begun / "1").read_text())
    yield place


def test_any_damage_to_any_file_is_mended_by_the_table(stopped: Place, tmp_path: Path) -> None:
    files = [file.relative_to(stopped.checkpoint) for file in Path(stopped.checkpoint).rglob("*") if file.is_file()]
    assert {str(file.parent) for file in files} >= {".", "offsets", "commits", "sources/0"}
    wrong = {}
    for file in files:
        for name, damage in DAMAGES.items():
            copy = replace(stopped, checkpoint=str(tmp_path / f"{file.name}-{file.parent.name}-{name}"))
            shutil.copytree(stopped.checkpoint, copy.checkpoint)
            damage(Path(copy.checkpoint) / file)
            checkpoints.heal(copy)
            if checkpoints.examine(copy) or checkpoints.wanted(copy) != {0: 1, 1: 1}:
                wrong[f"{file} {name}"] = checkpoints.examine(copy) or checkpoints.wanted(copy)
    assert wrong == {}
