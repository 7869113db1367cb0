"""A thousand canaries through real parts: after their erasure no byte of lake, log, spool or logs has one of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
import pytest
import searching
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from tending import Tended, rows
from toy_lake import Passed

from penstock.engine.archive import Archive
from penstock.engine.build import Batch
from penstock.engine.erasure import erase
from penstock.engine.pinning import take
from penstock.engine.shape import Shape
from penstock.engine.telling import report
from penstock.engine.theirs import asked
from penstock.keys.store import Keys
from penstock.lake.layout import Layout
from penstock.log.topics import ensure
from penstock.model.domain import source, views_of
from penstock.ops.load.mortal import COLLECTOR, MortalBroker, MortalCollector
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

EVENTS = source("web.events")
CANARY, CANARIES, OTHERS = "canary-", 1000, 2000
FULL = os.environ.get("PENSTOCK_FULL")


def event(name: str) -> dict[str, object]:
    """Wherever a name can be: marked fields, fields that nobody knows, an address."""
    return {
        "type": "pageview", "site": "a.example", "visitor": name, "user": name, "url": f"https://a.example/of/{name}",
        "referrer": f"https://b.example/{name}", "user_agent": f"Mozilla/5.0 {name}", "nickname": name, "title": name,
    }  # fmt: skip


@pytest.fixture
def keys(spark: SparkSession, tmp_path: Path) -> Iterator[Keys]:
    """The keys of this test's home, where the session's shapes look for them."""
    before = spark.conf.get("spark.penstock.keys")
    spark.conf.set("spark.penstock.keys", str(tmp_path / "keys"))
    yield Keys.of_home(tmp_path)
    spark.conf.set("spark.penstock.keys", before)


@pytest.fixture
def broker_of_its_own(tmp_path: Path) -> Iterator[MortalBroker]:
    broker = MortalBroker(tmp_path / "broker")
    yield broker.ready()
    broker.kill()


@pytest.fixture
def collector(tmp_path: Path, broker_of_its_own: MortalBroker) -> Iterator[MortalCollector]:
    """What it says goes into the home too, where it is searched."""
    ensure(broker_of_its_own.address, [EVENTS])
    home, said = tmp_path, tmp_path / "collector.log"
    settings = Settings(
        home, str(home / "lake"), broker_of_its_own.address, collector_port=free_port(), compiler="quick"
    )
    collector = MortalCollector(settings, ("sh", "-c", f"exec {' '.join(COLLECTOR)} 2> {said}"))
    yield collector.start().ready()
    collector.kill()


def post(collector: MortalCollector, names: list[str]) -> None:
    for start in range(0, len(names), 500):
        body = orjson.dumps([event(name) for name in names[start : start + 500]])
        told = {"content-type": "application/json", "user-agent": names[start]}
        httpx.post(f"{collector.url}/v1/web.events", content=body, headers=told, timeout=60).raise_for_status()


def passes(*_: object) -> Passed:
    return Passed()


@pytest.mark.skipif(not FULL, reason="18 views of the web are built twice; tests/spark/undo/test_erase.py is quicker")
def test_no_byte_has_a_canary_and_the_facts_are_fewer_by_those_of_canaries(
    spark: SparkSession, keys: Keys, broker_of_its_own: MortalBroker, collector: MortalCollector
) -> None:
    settings, home = collector.settings, collector.settings.home
    layout, names = Layout(settings.lake), [f"{CANARY}{number:04}" for number in range(CANARIES)]
    others = [f"other-{number}" for number in range(OTHERS)]
    broker_of_its_own.kill()
    post(collector, names[:100])
    assert any((home / "spool").iterdir())
    assert searching.below(home, CANARY) == {}
    broker_of_its_own.start()
    broker_of_its_own.ready()
    collector.drained()

    with Tended(spark, settings, [Archive(EVENTS, layout), Shape(EVENTS, layout, "r1")]):
        post(collector, [*names[100:500], *others])
        rows(layout.silver("r1", EVENTS.name), 500 + OTHERS)
        Batch(spark, layout, "r1", passes).build(views_of(EVENTS))
        take(layout, "hand", "test", "half of them are there")
        rows(layout.bronze(EVENTS.name), 500 + OTHERS)
    # The archive is behind: of these the log alone knows whom they name.
    with Tended(spark, settings, [Shape(EVENTS, layout, "r1")]):
        post(collector, names[500:])
        silver = rows(layout.silver("r1", EVENTS.name), CANARIES + OTHERS)
    assert silver["disposition"].to_pylist().count("fact") == CANARIES + OTHERS
    assert len(searching.below(Path(layout.root), CANARY)) == CANARIES

    tokens = " ".join(token.hex() for token in keys.tokens("web", names).values())
    wanted = asked("web", tokens, "erase/1", "test", "they asked")
    said, built = erase(lambda: spark, settings, wanted, lambda release: passes)
    report(home, wanted, said, built)

    assert searching.below(home, CANARY) == {}
    assert searching.on_log(settings.kafka, EVENTS.name, CANARY) == set()
    after = DeltaTable(layout.silver("r1", EVENTS.name)).to_pyarrow_table()["disposition"].to_pylist()
    assert (after.count("fact"), after.count("rejected")) == (OTHERS, CANARIES)
    assert next(each.facts for each in said if each.source == EVENTS.name) == {"r1": [CANARIES + OTHERS, CANARIES]}
