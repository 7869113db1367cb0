"""The whole way on an object store: epochs of a driver that is killed, a lost checkpoint, a build, a reader, upkeep.

Needs `make s3` and MinIO's server as `minio` on the PATH (`go install github.com/minio/minio@latest` makes one).
"""

import os
import secrets
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from faults.killing import TOPIC, Scene, play, until, verdict
from serving import serving

from penstock.engine.checkpoints import examine, heal, places
from penstock.lake import maintain
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.place import Place, place
from penstock.lake.publication import newest, open_table
from penstock.lake.spark_settings import STORE_JARS
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
VIEW = "web.pageviews_by_region"


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


@pytest.fixture(scope="module")
def scene(bucket: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Traffic through the driver that production runs, killed with -9 on its way."""
    home = tmp_path_factory.mktemp("home")
    with serving(home / "broker") as kafka:
        settings = replace(Settings.from_env(), home=home, lake=f"{bucket}/{uuid.uuid4().hex}", kafka=kafka)
        yield play(settings, 43, kills=3 if os.environ.get("PENSTOCK_FULL") else 1)


def test_every_row_is_right_on_a_store_after_the_driver_was_killed(scene: Scene) -> None:
    assert verdict(scene) == []


def test_a_checkpoint_that_was_lost_on_a_store_is_rebuilt(scene: Scene) -> None:
    shape = places(scene.layout, TOPIC, FIRST_RELEASE)[1]
    place(shape.checkpoint).remove()
    assert examine(shape).startswith("lost")
    assert heal(shape) and examine(shape) == ""


def test_a_build_publishes_on_a_store_what_readers_saw_before(scene: Scene) -> None:
    before = answer(scene.layout)
    job = [sys.executable, PROJECT / "spark_jobs" / "build_views.py", "--domain", "web"]
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
