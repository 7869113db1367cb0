"""A stack of its own beside whatever else runs here: a fresh home and free ports, for a measurement or a test."""

import os
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from penstock.ops.stack import foreground
from penstock.ops.stack.run import Stack
from penstock.ops.stack.state import State
from penstock.ops.stack.supervise import OWNER
from penstock.settings import Settings

# Below those that the system gives to connections (32768 and more): one of them may take a port before whoever asked
# for it listens, or while a broker that was killed is away.
PORTS = range(15_000, 32_000)


def free_port(following: int = 0) -> int:
    """A port that is free, and `following` ones after it: the broker takes two."""
    while True:
        port = random.choice(PORTS)  # noqa: S311
        if all(_free(port + each) for each in range(following + 1)):
            return port


def _free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def settings(home: Path, compiler: str = "full") -> Settings:
    return Settings.from_env(
        {
            "PENSTOCK_HOME": str(home),
            "PENSTOCK_COMPILER": compiler,
            "PENSTOCK_KAFKA_PORT": str(free_port(following=1)),
            **{f"PENSTOCK_{part}_PORT": str(free_port()) for part in ("AIRFLOW", "COLLECTOR", "SERVE")},
        }
    )


@contextmanager
def resting() -> Iterator[None]:
    """A stack that is started meanwhile reads and shows its DAGs but runs none, and ends with this process."""
    ours = {"AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True", OWNER: str(os.getpid())}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]


def well(stack: Stack) -> list[State]:
    """Waits, without a word, until every part is well."""
    with Path(os.devnull).open("w") as silence:
        return foreground.until_well(stack, Console(file=silence))
