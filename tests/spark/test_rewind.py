"""A rewind brings tables back to a restore point, streams shape the newer records again, and nothing is lost."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from serving import serving
from tending import Tended, rows

from penstock.engine import checkpoints
from penstock.engine import rewind as rewinding
from penstock.engine.archive import Archive
from penstock.engine.pinning import take
from penstock.engine.posting import post
from penstock.engine.shape import Shape
from penstock.engine.stream import Job
from penstock.lake import restore_points
from penstock.lake.layout import Layout
from penstock.lake.ledger import balance
from penstock.log.topics import ensure
from penstock.model.domain import Domain, domains
from penstock.settings import Settings

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "factories"))

from toy_lake import ToyLake, fact  # noqa: E402

Send = Callable[..., None]
VIEWS = ("toy.events_by_what", "toy.everything", "toy.sessions", "toy.visits", "toy.now", "toy.impulses")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Domain:
    monkeypatch.syspath_prepend(TESTS / "toy")
    domains.cache_clear()
    return domains()["toy"]


@pytest.fixture
def lake(spark: SparkSession, toy: Domain, tmp_path: Path) -> ToyLake:
    return ToyLake(spark, Layout(str(tmp_path / "lake")), toy)


def answers(lake: ToyLake) -> dict[str, list[dict[str, Any]]]:
    return {view: sorted(lake.rows(view), key=str) for view in VIEWS}


def grown(lake: ToyLake) -> tuple[restore_points.RestorePoint, dict[str, Any]]:
    """A lake with a point in the middle of its life, and what it answered then."""
    lake.epoch([fact("ann", 0), fact("bob", 3, "buy", 60)])
    lake.build()
    lake.epoch([fact("ann", 9, "buy", 7)])
    point, then = take(lake.layout, "hand", "test", "a good moment"), answers(lake)
    lake.epoch([fact("eve", 11)])
    lake.build()
    lake.epoch([fact("eve", 12, "buy", 99)])
    return point, then


def test_every_view_answers_as_it_did_at_the_point_and_back_again(lake: ToyLake) -> None:
    point, then = grown(lake)
    now = answers(lake)
    went = rewinding.rewind(lake.layout, point, "toy", "test", "to see")
    assert answers(lake) == then
    saved = restore_points.find(lake.layout, went.saved)
    rewinding.rewind(lake.layout, saved, "toy", "test", "and back")
    assert answers(lake) == now


@pytest.fixture
def log(tmp_path: Path, toy: Domain) -> Iterator[str]:
    """A log on which nobody else uses `toy.events`."""
    with serving(tmp_path / "broker") as address:
        ensure(address, toy.sources)
        yield address


@pytest.fixture
def send(log: str) -> Send:
    producer = Producer({"bootstrap.servers": log, "acks": "all", "log_level": 0})

    def send(event_id: str, value: str, partition: int = 0) -> None:
        producer.produce("toy.events", value.encode(), headers={"event_id": event_id}, partition=partition)
        producer.flush()

    return send


def dispositions(table: str) -> list[tuple[Any, ...]]:
    told = DeltaTable(table).to_pyarrow_table().to_pylist()
    return sorted(
        (row["partition"], row["offset"], row["event_id"], row["disposition"], str(row["reason"])) for row in told
    )


def test_streams_shape_the_newer_records_again_and_the_books_balance(
    lake: ToyLake, settings: Settings, log: str, send: Send, spark: SparkSession
) -> None:
    own, source = replace(settings, kafka=log), lake.domain.sources[0]
    jobs: list[Job] = [Archive(source, lake.layout), Shape(source, lake.layout, "r1")]
    silver = jobs[1].place.table
    with Tended(spark, own, jobs):
        send("a", '{"who": "ann", "amount": 1}')
        send("b", '{"who": "bob", "amount": 2}', 1)
        rows(silver, 2)
        lake.build()
        send("c", '{"who": "ann", "amount": 3}')
        rows(silver, 3)
    point, then = take(lake.layout, "hand", "test", "before the mistake"), answers(lake)
    with Tended(spark, own, jobs):
        send("a", '{"who": "ann", "amount": 1}')
        send("d", '{"who": "dan", "amount": 4}', 1)
        send("e", "{")
        rows(silver, 6)
        rows(jobs[0].place.table, 6)
        lake.build()
    shaped, now = dispositions(silver), answers(lake)
    rewinding.rewind(lake.layout, point, "toy", "test", "a mistake")
    assert (len(dispositions(silver)), answers(lake)) == (3, then)
    assert checkpoints.examine(jobs[1].place).startswith("foreign")
    with Tended(spark, own, jobs):
        rows(silver, 6)
    assert (dispositions(silver), answers(lake)) == (shaped, now)
    post(lake.layout, (source,), "r1")
    books = balance(lake.layout.ledger(), log, source=source.name)
    assert [(row.accepted, row.archived, row.balanced) for row in books] == [(6, 6, True)]
