"""A check that cannot fail is worthless: each bug planted here must be caught by a check that production or CI runs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from dying import nothing_is_committed
from faults.bronze import as_log, bronze
from oracle.recompute import differences
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine import commit, dispositions, ids, posting, shape, silver
from penstock.engine.balance import Unbalanced
from penstock.engine.epoch import Epoch
from penstock.engine.ids import Seen
from penstock.engine.shape import Shape
from penstock.engine.shapes import judged, planned
from penstock.lake.layout import Layout
from penstock.lake.ledger import booked
from penstock.lake.tablelog import LinkedLog
from penstock.model.domain import source

EVENTS = source("web.events")
Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def records() -> pa.Table:
    return bronze(5, 400)


@pytest.fixture(scope="module")
def shaped(spark: SparkSession, records: pa.Table) -> pa.Table:
    """What the web domain makes of the log, once for all bugs: they are in what the engine does with it."""
    return judged(planned(spark.createDataFrame(records), EVENTS, {}), EVENTS)


def run(spark: SparkSession, lake: Path, shaped: pa.Table) -> Shape:
    """Three epochs; the second is run twice, as after a crash, and before the third the stream starts again."""
    job = Shape(replace(EVENTS), Layout(str(lake)), "r1")
    for number, first, count, starts in (
        (0, 0, 150, True),
        (1, 150, 150, False),
        (1, 150, 150, False),
        (2, 300, 100, True),
    ):
        if starts:
            job.prepare()
        job.epoch(job.plan(spark.createDataFrame(shaped.slice(first, count))), Epoch("query", number, count))
    return job


def wrong(spark: SparkSession, lake: Path, records: pa.Table, shaped: pa.Table) -> list[Any]:
    """What the checks say: an epoch's own balance, the oracle over all rows, the ledger."""
    try:
        job = run(spark, lake, shaped)
    except (Unbalanced, TypeError) as caught:
        return [caught]
    rows = DeltaTable(job.place.table).to_pyarrow_table()
    missing, extra = differences(as_log(records), rows)
    posting.post(job.layout, (EVENTS,), "r1")
    posting.post(job.layout, (EVENTS,), "r1")
    entries = booked(job.layout.ledger(), "r1")[0].values()
    posted = sum(entry[name] for entry in entries for name in ("facts", "rejected", "duplicates"))
    return [*missing, *extra, *([f"{posted} posted"] if posted != records.num_rows else [])]


@pytest.fixture(autouse=True)
def only_the_engine(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Shape, "speed", lambda *_: None)
    monkeypatch.setattr(shape, "planned", lambda shaped, *_: shaped)


def test_without_a_bug_nothing_is_wrong(
    spark: SparkSession, tmp_path: Path, records: pa.Table, shaped: pa.Table
) -> None:
    assert wrong(spark, tmp_path, records, shaped) == []


def shaped_by(change: Callable[[DataFrame], DataFrame]) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(shape, "planned", lambda shaped, *_: change(shaped))


def plant(owner: Any, name: str, bug: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, bug)


def last_wins(seen: Seen, wanted: ids.Hashes, contents: ids.Hashes) -> tuple[ids.Marks, ids.Marks]:
    marks = GOOD_JUDGE(seen, wanted[::-1], contents[::-1])
    return marks[0][::-1], marks[1][::-1]


def collisions_are_duplicates(seen: Seen, wanted: ids.Hashes, contents: ids.Hashes) -> tuple[ids.Marks, ids.Marks]:
    duplicate, collision = GOOD_JUDGE(seen, wanted, contents)
    return duplicate | collision, np.zeros_like(collision)


def constant_query(appender: commit.Appender, rows: pa.Table, app: str, epoch: int) -> bool:
    return GOOD_APPEND(appender, rows, "stream", 0)


GOOD_JUDGE, GOOD_APPEND, GOOD_REPEATS = Seen.judge, commit.Appender.append, dispositions.repeats


def rejected_are_judged(rows: pa.Table, seen: Seen) -> dispositions.Repeats:
    at = rows.schema.get_field_index("reason")
    return GOOD_REPEATS(rows.set_column(at, "reason", pa.nulls(len(rows), pa.string())), seen)


def shifted(offset: str) -> Callable[[DataFrame], DataFrame]:
    return lambda rows: rows.withColumn("offset", F.expr(offset))


LATER = "happened_at + interval 1 second"

BUGS: dict[str, Callable[[Patch], None]] = {
    "a filter drops rows": shaped_by(lambda rows: rows.where("offset % 50 <> 3")),
    "a join doubles rows": shaped_by(lambda rows: rows.union(rows.limit(1))),
    "positions are mixed up": shaped_by(shifted("offset - offset % 2")),
    "an undeclared reason": shaped_by(lambda rows: rows.withColumn("reason", F.when(F.col("offset") == 7, "odd"))),
    "a fact without a time": shaped_by(lambda rows: rows.withColumn("happened_at", F.lit(None).cast("timestamp"))),
    "the record is not kept": shaped_by(lambda rows: rows.drop("value")),
    "times are off by a second": shaped_by(lambda rows: rows.withColumn("happened_at", F.expr(LATER))),
    "a transaction id that is constant": plant(commit.Appender, "append", constant_query),
    "an epoch is committed twice": plant(LinkedLog, "committed", nothing_is_committed),
    "ids are forgotten at a restart": plant(shape, "remembered", lambda _: Seen()),
    "ids are never remembered": plant(Seen, "remember", lambda *_: None),
    "the last one wins": plant(Seen, "judge", last_wins),
    "a collision passes as a duplicate": plant(Seen, "judge", collisions_are_duplicates),
    "rejected records count as repeats": plant(dispositions, "repeats", rejected_are_judged),
    "raw bytes are lost": plant(silver, "REJECTED", "refused"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(
    bug: str, spark: SparkSession, tmp_path: Path, records: pa.Table, shaped: pa.Table, monkeypatch: Patch
) -> None:
    BUGS[bug](monkeypatch)
    assert wrong(spark, tmp_path, records, shaped), f"nothing noticed that {bug}"
