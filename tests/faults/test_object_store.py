"""The whole way on an object store: epochs of a driver that is killed, a lost checkpoint, a build, a reader, upkeep.

Needs `make s3` and MinIO's server as `minio` on the PATH (`go install github.com/minio/minio@latest` makes one).
"""

import os
import secrets
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from oracle.recompute import differences, log
from oracle.traffic import Sent, traffic
from serving import serving

from penstock.engine.checkpoints import examine, heal, places
from penstock.engine.posting import post
from penstock.lake import maintain
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.ledger import balance
from penstock.lake.place import Place, place
from penstock.lake.publication import newest, open_table
from penstock.lake.spark_settings import STORE_JARS
from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.ops.stack import health
from penstock.ops.stack.trial import free_port
from penstock.serve.question import EARLIEST, LATEST, Question
from penstock.serve.reader import Reader
from penstock.settings import Settings

PROJECT = Path(__file__).parents[2]
SERVER = shutil.which("minio")
READY = SERVER and any(STORE_JARS.glob("hadoop-aws-*.jar"))
pytestmark = pytest.mark.skipif(
    not READY, reason="NO OBJECT STORE HERE, so a lake on one was not tried: `make s3`, and minio on the PATH"
)
TOPIC, VIEW = "web.events", "web.pageviews_by_region"
RECORDS, PATIENCE = 1_000, 240.0


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An empty bucket of a real S3-compatible server, and its address and keys in the environment."""
    disk, port = tmp_path_factory.mktemp("store"), free_port(following=1)
    (disk / "lake").mkdir()
    user, password = secrets.token_hex(8), secrets.token_hex(16)
    command = [str(SERVER), "server", "--address", f"127.0.0.1:{port}", "--console-address", f"127.0.0.1:{port + 1}"]
    keys = {"MINIO_ROOT_USER": user, "MINIO_ROOT_PASSWORD": password}
    server = subprocess.Popen([*command, disk], env={**os.environ, **keys}, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("AWS_ACCESS_KEY_ID", user), ("AWS_SECRET_ACCESS_KEY", password), ("AWS_ENDPOINT_URL", address),
            ("AWS_REGION", "us-east-1"), ("AWS_ALLOW_HTTP", "true"),
        ):  # fmt: skip
            patch.setenv(name, value)
        try:
            until(lambda: health.fetch(f"{address}/minio/health/live") is not None, "object store")
            yield "s3a://lake"
        finally:
            server.kill()
            server.wait()


@pytest.fixture
def folder(bucket: str) -> Place:
    return place(f"{bucket}/{uuid.uuid4().hex}")


def test_a_folder_of_a_store_is_as_one_of_a_disk(folder: Place, tmp_path: Path) -> None:
    folder.write("gold/day=2026-11-18/part", b"rows")
    folder.below("copy").have("day=2026-11-18/part", folder.below("gold"))
    folder.below("gold").moved(folder.below("kept"))
    assert (folder.names(), folder.below("gold").there()) == (["copy", "kept"], False)
    folder.below("kept").copied(place(tmp_path))
    assert place(tmp_path).read("day=2026-11-18/part") == b"rows"
    folder.forget("copy/day=2026-11-18/part")
    folder.remove()
    assert (folder.there(), folder.names(), folder.size()) == (False, [], 0)


@dataclass(frozen=True)
class Scene:
    """A home, a log, and a lake that is elsewhere."""

    settings: Settings

    @property
    def layout(self) -> Layout:
        return Layout(self.settings.lake)

    @property
    def silver(self) -> str:
        return self.layout.silver(FIRST_RELEASE, TOPIC)

    def send(self, records: Iterable[Sent]) -> None:
        producer = Producer({"bootstrap.servers": self.settings.kafka, "acks": "all", "log_level": 0})
        for record in records:
            producer.produce(TOPIC, record.value, key=record.key, headers=record.headers)
        producer.flush()

    def start(self) -> "subprocess.Popen[bytes]":
        """The driver that production runs."""
        job = [sys.executable, str(PROJECT / "spark_jobs" / "stream.py"), "--sources", TOPIC]
        with (self.settings.home / "driver.log").open("ab") as said:
            return subprocess.Popen(job, env={**os.environ, **self.settings.to_env()}, stdout=said, stderr=said)

    def rows(self, table: str) -> pa.Table:
        try:
            return DeltaTable(table).to_pyarrow_table()
        except TableNotFoundError:
            return pa.table({})


def until(true: Callable[[], bool], what: str) -> None:
    limit = time.time() + PATIENCE
    while not true():
        assert time.time() < limit, f"no {what} in {PATIENCE:.0f} s"
        time.sleep(0.5)


def killed(driver: "subprocess.Popen[bytes]") -> None:
    """kill -9 of Python and of its JVM at once."""
    family = [psutil.Process(driver.pid), *psutil.Process(driver.pid).children(recursive=True)]
    for process in family:
        process.kill()
    driver.wait()
    psutil.wait_procs(family, 60)


@pytest.fixture(scope="module")
def scene(bucket: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Traffic through a driver that is killed on its way, and through the one after it."""
    home = tmp_path_factory.mktemp("home")
    with serving(home / "broker") as kafka:
        scene = Scene(replace(Settings.from_env(), home=home, lake=f"{bucket}/{uuid.uuid4().hex}", kafka=kafka))
        ensure(kafka, [source(TOPIC)])
        records = traffic(43, RECORDS)
        scene.send(islice(records, RECORDS // 2))
        driver = scene.start()
        until(lambda: scene.rows(scene.silver).num_rows > 0, "first epoch")
        scene.send(records)
        killed(driver)
        driver = scene.start()
        for table in (scene.silver, scene.layout.bronze(TOPIC)):
            until(lambda table=table: scene.rows(table).num_rows >= RECORDS, f"end of {table}")
        driver.terminate()
        driver.wait(60)
        yield scene


def test_every_row_is_right_on_a_store_after_the_driver_was_killed(scene: Scene) -> None:
    assert differences(log(scene.settings.kafka, TOPIC), scene.rows(scene.silver)) == ([], [])
    post(scene.layout, (source(TOPIC),), FIRST_RELEASE)
    assert all(row.balanced for row in balance(scene.layout.ledger(), scene.settings.kafka))


def test_a_checkpoint_that_was_lost_on_a_store_is_rebuilt(scene: Scene) -> None:
    shape = places(scene.layout, TOPIC, FIRST_RELEASE)[1]
    place(shape.checkpoint).remove()
    assert examine(shape).startswith("lost")
    assert heal(shape) and examine(shape) == ""


def test_a_build_publishes_on_a_store_what_readers_saw_before(scene: Scene) -> None:
    before = answer(scene.layout)
    # A tenth of this traffic is bent, which the suite of the source would rightly refuse.
    job = [sys.executable, PROJECT / "spark_jobs" / "build_views.py", "--domain=web", "--accept-rejected=yes"]
    ran = subprocess.run(
        job, env={**os.environ, **scene.settings.to_env()}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    gold = open_table(scene.layout.gold(FIRST_RELEASE, VIEW))
    assert newest(gold) is not None and before.num_rows and answer(scene.layout) == before


def answer(layout: Layout) -> pa.Table:
    reader = Reader(layout)
    reader.refresh()
    view = reader.view(VIEW)
    rows = reader.answer(Question(view, EARLIEST, LATEST, by=("region",))).rows
    return rows.sort_by("region").select(["region", "views"])


def test_upkeep_reaches_every_table_of_a_store(scene: Scene, tmp_path: Path) -> None:
    tables = set(maintain.tables(scene.layout.root))
    assert {scene.layout.bronze(TOPIC), scene.layout.silver(FIRST_RELEASE, TOPIC), scene.layout.ledger()} <= tables
    for table in tables:
        before = DeltaTable(table).to_pyarrow_dataset().count_rows()
        maintain.compact(table)
        assert DeltaTable(table).to_pyarrow_dataset().count_rows() == before
    assert maintain.drill(scene.layout.bronze(TOPIC), tmp_path / "scratch") > 0
