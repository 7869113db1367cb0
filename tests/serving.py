"""A real broker for as long as a test, or a run, needs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.ops.load.mortal import MortalBroker


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Its address, once it answers."""
    broker = MortalBroker(folder)
    try:
        yield broker.ready().address
    finally:
        broker.kill()
