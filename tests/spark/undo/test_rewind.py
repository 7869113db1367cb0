"""A rewind brings tables back to a restore point, streams shape the newer records again, and nothing is lost."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deltalake import DeltaTable
from pyspark.sql import SparkSession
from tending import Tended, rows
from toy_lake import ToyLake, answers

from penstock.engine import checkpoints
from penstock.engine.archive import Archive
from penstock.engine.pinning import take
from penstock.engine.posting import post
from penstock.engine.rewind import rewind
from penstock.engine.shape import Shape
from penstock.engine.stream import Job
from penstock.lake import restore_points
from penstock.lake.ledger import balance
from penstock.settings import Settings


def test_streams_shape_the_newer_records_again_and_the_books_balance(
    lake: ToyLake, settings: Settings, log: str, send: Callable[..., None], spark: SparkSession
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
    went = rewind(lake.layout, point, "toy", "test", "a mistake")
    assert (len(dispositions(silver)), answers(lake)) == (3, then)
    assert checkpoints.examine(jobs[1].place).startswith("foreign")
    with Tended(spark, own, jobs):
        rows(silver, 6)
    assert (dispositions(silver), answers(lake)) == (shaped, now)
    rewind(lake.layout, restore_points.find(lake.layout, went.saved), "toy", "test", "and back")
    assert (dispositions(silver), answers(lake)) == (shaped, now)
    post(lake.layout, (source,), "r1")
    books = balance(lake.layout.ledger(), log, source=source.name)
    assert (sum(row.archived for row in books), all(row.balanced for row in books)) == (6, True)


def dispositions(table: str) -> list[tuple[Any, ...]]:
    named = ("partition", "offset", "event_id", "disposition", "reason")
    return sorted(tuple(str(row[name]) for name in named) for row in DeltaTable(table).to_pyarrow_table().to_pylist())
