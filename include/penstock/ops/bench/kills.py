"""kill -9 of the collector and of its broker under load with retries: what was acknowledged and is not on the log."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from penstock.ops.bench import Figure
from penstock.ops.load.torment import torment


def run(quick: bool) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        told = torment(Path(folder), seed=1, kills=3 if quick else 50)
    yield Figure(
        "kills",
        f"of {told.acknowledged} acknowledged events lost in {told.kills} deaths of collector and broker each",
        len(told.missing),
        goal="<= 0",
        gate_ok=not told.missing,
        detail={"said": told.line()},
    )
