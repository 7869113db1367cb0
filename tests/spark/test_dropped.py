"""The story of the dropped table and the deleted checkpoint at once: found, priced, rebuilt, equal to what it was."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from serving import serving
from tending import Tended, rows

from penstock.engine.archive import Archive
from penstock.engine.damage import Gone, damages
from penstock.engine.mending import rebuild
from penstock.engine.pinning import take
from penstock.engine.posting import post
from penstock.engine.shape import Shape
from penstock.engine.stream import Job
from penstock.lake.layout import Layout
from penstock.lake.ledger import balance
from penstock.log.topics import ensure
from penstock.model.domain import Domain, domains
from penstock.settings import Settings

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "factories"))

from toy_lake import Passed, ToyLake  # noqa: E402

SILVER, GOLD = "silver/r1/toy.events", "gold/r1/toy.now"
SAID = [
    ("a", '{"who": "ann", "amount": 1}', 0),
    ("b", '{"who": "bob", "what": "buy", "amount": 2}', 1),
    ("a", '{"who": "ann", "amount": 1}', 0),
    ("c", "{", 0),
    ("d", '{"who": "ann", "amount": 3}', 0),
]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Domain:
    monkeypatch.syspath_prepend(TESTS / "toy")
    domains.cache_clear()
    return domains()["toy"]


@pytest.fixture
def log(tmp_path: Path, toy: Domain) -> Iterator[str]:
    """A log on which nobody else uses `toy.events`."""
    with serving(tmp_path / "broker") as address:
        ensure(address, toy.sources)
        yield address


def send(log: str, *told: tuple[str, str, int]) -> None:
    producer = Producer({"bootstrap.servers": log, "acks": "all", "log_level": 0})
    for event_id, value, partition in told:
        producer.produce("toy.events", value.encode(), headers={"event_id": event_id}, partition=partition)
        producer.flush()


def passes(rows: DataFrame, table: str) -> Passed:
    return Passed()


def dispositions(table: str) -> list[tuple[Any, ...]]:
    named = ("partition", "offset", "event_id", "disposition", "reason", "raw")
    told = DeltaTable(table).to_pyarrow_table().to_pylist()
    return sorted(tuple(str(row[name]) for name in named) for row in told)


def answers(lake: ToyLake) -> dict[str, list[dict[str, Any]]]:
    return {view.name: sorted(lake.rows(view.name), key=str) for view in lake.domain.views}


def test_a_dropped_table_and_a_deleted_checkpoint_are_rebuilt_from_bronze(
    spark: SparkSession, settings: Settings, toy: Domain, log: str
) -> None:
    own, source = replace(settings, kafka=log), toy.sources[0]
    lake = ToyLake(spark, Layout(settings.lake), toy)
    jobs: list[Job] = [Archive(source, lake.layout), Shape(source, lake.layout, "r1")]
    bronze, silver = jobs[0].place.table, jobs[1].place.table
    with Tended(spark, own, jobs):
        send(log, *SAID[:3])
        rows(silver, 3)
        lake.build()
        send(log, *SAID[3:])
        rows(silver, 5)
        rows(bronze, 5)
    take(lake.layout, "hand", "test", "all is well")
    shaped, told = dispositions(silver), answers(lake)
    post(lake.layout, (source,), "r1")

    for path in (silver, jobs[1].place.checkpoint, lake.layout.gold("r1", "toy.now")):
        shutil.rmtree(path)
    assert {each.table for each in damages(lake.layout)} >= {SILVER, GOLD}
    with pytest.raises(Gone, match="penstock rebuild"):
        jobs[1].prepare()

    again = rebuild(spark, own, SILVER, "rebuild/1", lambda source: {}, lambda release: passes)
    assert ("5 records" in again, dispositions(silver), answers(lake)) == (True, shaped, told)
    assert list(damages(lake.layout, deep=True)) == []
    with Tended(spark, own, jobs):
        send(log, ("e", '{"who": "eve", "amount": 4}', 1), SAID[0])
        rows(silver, 7)
        rows(bronze, 7)
    post(lake.layout, (source,), "r1")
    books = balance(lake.layout.ledger(), log, source=source.name)
    assert [(row.accepted, row.facts, row.duplicates, row.balanced) for row in books] == [(7, 4, 2, True)]
    assert sum(row["events"] for row in lake.rows("toy.events_by_what")) == 4
