"""The story of the dropped table and the deleted checkpoint at once: found, priced, rebuilt, equal to what it was."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from tending import Tended, rows
from toy_lake import Passed, ToyLake, answers

from penstock.engine.archive import Archive
from penstock.engine.damage import Gone, damages
from penstock.engine.mending import rebuild
from penstock.engine.pinning import take
from penstock.engine.posting import post
from penstock.engine.shape import Shape
from penstock.engine.stream import Job
from penstock.lake.ledger import balance
from penstock.settings import Settings

SILVER, GOLD, CHECKPOINT = "silver/r1/toy.events", "gold/r1/toy.now", "checkpoints/shape/toy.events/r1"
SAID = [
    ("a", '{"who": "ann", "amount": 1}', 0),
    ("b", '{"who": "bob", "what": "buy", "amount": 2}', 1),
    ("a", '{"who": "ann", "amount": 1}', 0),
    ("c", "{", 0),
    ("d", '{"who": "ann", "amount": 3}', 0),
]


def passes(rows: DataFrame, table: str) -> Passed:
    return Passed()


def dispositions(table: str) -> list[tuple[Any, ...]]:
    named = ("partition", "offset", "event_id", "disposition", "reason", "raw")
    told = DeltaTable(table).to_pyarrow_table().to_pylist()
    return sorted(tuple(str(row[name]) for name in named) for row in told)


def test_a_dropped_table_and_a_deleted_checkpoint_are_rebuilt_from_bronze(
    lake: ToyLake, settings: Settings, log: str, send: Callable[..., None], spark: SparkSession
) -> None:
    own, source = replace(settings, kafka=log), lake.domain.sources[0]
    jobs: list[Job] = [Archive(source, lake.layout), Shape(source, lake.layout, "r1")]
    bronze, silver = jobs[0].place.table, jobs[1].place.table
    with Tended(spark, own, jobs):
        for one in SAID[:3]:
            send(*one)
        rows(silver, 3)
        lake.build()
        for one in SAID[3:]:
            send(*one)
        rows(silver, 5)
        rows(bronze, 5)
    take(lake.layout, "hand", "test", "all is well")
    shaped, told = dispositions(silver), answers(lake)
    post(lake.layout, (source,), "r1")

    shutil.rmtree(jobs[1].place.checkpoint)
    assert CHECKPOINT in {each.table for each in damages(lake.layout, own.kafka)}
    for path in (silver, lake.layout.gold("r1", "toy.now")):
        shutil.rmtree(path)
    assert {each.table for each in damages(lake.layout, own.kafka)} >= {SILVER, GOLD}
    with pytest.raises(Gone, match="penstock rebuild"):
        jobs[1].prepare()

    again = rebuild(spark, own, SILVER, "rebuild/1", lambda source: {}, lambda release: passes)
    assert ("5 records" in again, dispositions(silver), answers(lake)) == (True, shaped, told)
    assert list(damages(lake.layout, own.kafka, deep=True)) == []
    with Tended(spark, own, jobs):
        send("e", '{"who": "eve", "amount": 4}', 1)
        send(*SAID[0])
        rows(silver, 7)
        rows(bronze, 7)
    post(lake.layout, (source,), "r1")
    books = balance(lake.layout.ledger(), log, source=source.name)
    counts = [sum(getattr(row, name) for row in books) for name in ("archived", "facts", "duplicates")]
    assert (counts, all(row.balanced for row in books)) == ([7, 4, 2], True)
    assert sum(row["events"] for row in lake.rows("toy.events_by_what")) == 4
