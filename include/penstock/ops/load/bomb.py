"""What a body that inflates a thousandfold costs the one who has to refuse it."""

import gzip
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event

import psutil
import zstandard

from penstock.ops.load.meanwhile import meanwhile

INFLATED = 256 * 1024 * 1024
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda plain: gzip.compress(plain, 9),
    "zstd": zstandard.compress,
}
LOOK = 0.005


def bomb(encoding: str) -> bytes:
    """A quarter of a mebibyte, or less, that says it is 256 MiB."""
    return PACKERS[encoding](b" " * INFLATED)


@contextmanager
def growth(process: psutil.Process) -> Iterator[list[int]]:
    """How many bytes a process has more than before, looked at again and again until the block is left."""
    before, grown = process.memory_info().rss, [0]

    def watch(over: Event) -> None:
        while not over.is_set():
            grown.append(process.memory_info().rss - before)
            time.sleep(LOOK)

    with meanwhile(watch):
        yield grown
