"""A repair makes facts of exactly the records that it helps, once; revoked, they are rejected again."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from tending import Tended, rows
from toy_lake import Passed, ToyLake, answers

from penstock.engine import repair as repairing
from penstock.engine.archive import Archive
from penstock.engine.repair import looked, put, repair, settled
from penstock.engine.shape import Shape
from penstock.engine.stream import Job
from penstock.lake.repairs import Repair
from penstock.settings import Settings


def passes(rows: DataFrame, table: str) -> Passed:
    return Passed()


def test_a_renamed_field_is_repaired_once_and_revoked(
    lake: ToyLake,
    settings: Settings,
    log: str,
    send: Callable[..., None],
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, source = replace(settings, kafka=log), lake.domain.sources[0]

    def shape(release: str) -> Shape:
        return Shape(source, lake.layout, release)

    jobs: list[Job] = [Archive(source, lake.layout), shape("r1")]
    silver = jobs[1].place.table
    with Tended(spark, own, jobs):
        send("a", '{"who": "ann", "amount": 1}')
        send("b", '{"whom": "bob", "amount": 2}')
        send("b", '{"whom": "bob", "amount": 2}')
        send("c", '{"amount": 3}')
        rows(silver, 4)
        rows(jobs[0].place.table, 4)
        lake.build()
    before, told = DeltaTable(silver).to_pyarrow_table().sort_by("offset"), answers(lake)
    asked = Repair("p1", source.name, "missing_who", rename={"whom": "who"})
    monkeypatch.setattr(repairing, "open_session", lambda *_: spark)
    assert looked(own, asked) == ("Of 3 records 1 would become facts and 1 duplicates; still rejected: 1 missing_who.")
    said = settled(spark, lake.layout, asked, shape)
    assert repair(spark, lake.layout, said, shape, lambda release: passes) == 2
    assert put(spark, shape("r1"), said) == 0
    now = DeltaTable(silver).to_pyarrow_table().sort_by("offset")
    assert now["disposition"].to_pylist() == ["fact", "fact", "duplicate", "rejected"]
    assert now["who"].to_pylist()[:2] == ["ann", "bob"]
    assert sum(row["amount"] for row in lake.rows("toy.events_by_what")) == 3
    gone = settled(spark, lake.layout, Repair("p2", source.name, of="p1"), shape)
    repair(spark, lake.layout, gone, shape, lambda release: passes)
    assert DeltaTable(silver).to_pyarrow_table().sort_by("offset").equals(before)
    assert answers(lake) == told
