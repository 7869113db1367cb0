"""Two JVMs, as two drivers are, that write the same files through the stores that Delta and Spark use."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from py4j import java_gateway
from py4j.protocol import Py4JJavaError, get_return_value
from pyspark import SparkConf
from pyspark.java_gateway import ensure_callback_server_started, launch_gateway

# The stack of stories that are too long for the tests.
from stack.conftest import stack as stack

from penstock.lake.spark_settings import spark_conf
from penstock.settings import Settings


class Driver:
    """One JVM, with the class path of a job and no session."""

    def __init__(self, conf: dict[str, str]) -> None:
        self.gateway = launch_gateway(SparkConf(loadDefaults=False).setAll(list(conf.items())))
        self.hadoop = self.gateway.jvm.org.apache.hadoop.conf.Configuration()
        # Hive, among PySpark's jars, puts a file system before Hadoop's own that looks once more before it
        # renames: there the same hole is narrower, and a stock store too seldom fails to show it in a test.
        self.hadoop.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem")

    def path(self, path: Path) -> Any:
        return self.gateway.jvm.org.apache.hadoop.fs.Path(f"file:{path}")

    def made(self, name: str, *arguments: Any) -> Any:
        """An object of a Java class that is known by its name only."""
        jvm_class = self.gateway.jvm.java.lang.Class.forName(name)
        return jvm_class.getConstructors()[0].newInstance(self._array(*arguments))

    def commits(self, store: str) -> Callable[..., bool]:
        """Writes a version of a table; says whether this writer was told that it is his."""
        log = self.made(store, self.hadoop)
        return lambda path, *actions: told(
            lambda: log.write(self.path(path), self._actions(actions), False, self.hadoop)
        )

    def checkpoints(self, manager: str, folder: Path) -> Callable[[Path, str], bool]:
        """Writes a file of a streaming checkpoint; says the same."""
        files = self.made(manager, self.path(folder), self.hadoop)

        def write(path: Path, content: str) -> bool:
            out = files.createAtomic(self.path(path), False)
            out.write(bytearray(content.encode()))
            return told(out.close)

        return write

    def _actions(self, actions: tuple[Any, ...]) -> Any:
        if callable(actions[-1]):
            ensure_callback_server_started(self.gateway)
            return SlowActions(*actions)
        return self.gateway.jvm.java.util.List.of(self._array(*actions)).iterator()

    def _array(self, *items: Any) -> Any:
        array = self.gateway.new_array(self.gateway.jvm.java.lang.Object, len(items))
        for index, item in enumerate(items):
            array[index] = item
        return array

    def close(self) -> None:
        self.gateway.shutdown()
        self.gateway.proc.stdin.close()
        self.gateway.proc.wait(30)


def told(write: Callable[[], object]) -> bool:
    try:
        write()
    except Py4JJavaError as failure:
        assert "FileAlreadyExistsException" in failure.java_exception.getClass().getName(), failure
        return False
    return True


class SlowActions:
    """One action of a commit; before it is handed over, something else happens."""

    def __init__(self, action: str, meanwhile: Callable[[], object]) -> None:
        self.left, self.meanwhile = [action], meanwhile

    def hasNext(self) -> bool:
        return bool(self.left)

    def next(self) -> str:
        self.meanwhile()
        return self.left.pop()

    class Java:
        implements = ("java.util.Iterator",)


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Driver]]:
    home = tmp_path_factory.mktemp("drivers")
    patch = pytest.MonkeyPatch()
    # A session of Spark in this process translates what other JVMs throw by asking its own, which does not know it.
    patch.setattr(java_gateway, "get_return_value", get_return_value)
    conf = spark_conf(Settings(home=home, lake=str(home), kafka=""), short=True)
    pair = [Driver(conf), Driver(conf)]
    yield pair
    for driver in pair:
        driver.close()
    patch.undo()


@dataclass(frozen=True)
class Outcome:
    """`winners` of each round, as the writers were told."""

    winners: list[list[int]]

    @property
    def both(self) -> int:
        return sum(len(winners) > 1 for winners in self.winners)

    @property
    def lost(self) -> int:
        return sum(not winners for winners in self.winners)


@pytest.fixture
def contest() -> Callable[[list[Callable[[int], bool]], int], Outcome]:
    """Lets all writers try each round at the same moment."""

    def run(writers: list[Callable[[int], bool]], rounds: int) -> Outcome:
        # A writer that fails must not leave the other waiting for ever.
        start = threading.Barrier(len(writers), timeout=60)

        def write(writer: Callable[[int], bool]) -> list[bool]:
            try:
                return [writer(number) for number in range(rounds) if start.wait() >= 0]
            except Exception:
                start.abort()
                raise

        with ThreadPoolExecutor(len(writers)) as pool:
            answers = zip(*pool.map(write, writers), strict=True)
        return Outcome([[index for index, won in enumerate(each) if won] for each in answers])

    return run
