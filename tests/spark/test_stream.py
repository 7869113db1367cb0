"""Records of a real log become rows of bronze and silver, through the streams that production runs."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from serving import forget
from tending import Tended, rows, until

from penstock.engine import checkpoints, gaps
from penstock.engine.damage import holes_of
from penstock.engine.markers import lost
from penstock.engine.posting import post
from penstock.engine.stream import Job
from penstock.lake.layout import Layout
from penstock.lake.ledger import balance
from penstock.lake.records import records
from penstock.log.topics import ensure
from penstock.model.source import Source
from penstock.settings import Settings

NOWHERE = "127.0.0.1:1"


def test_each_record_is_archived_and_disposed_of_once(
    tended: Tended, jobs: list[Job], send: Callable[..., None]
) -> None:
    send({"who": "ada", "amount": 1}, "one")
    send({"who": "ada", "amount": 1}, "one")
    send({"who": "bob", "amount": 9}, "one")
    send(b"\xff\xfe not json")
    send({"amount": 3})
    send({"who": "eve", "amount": 4})
    silver = rows(jobs[1].place.table, 6)
    assert silver["disposition"].to_pylist() == ["fact", "duplicate", "rejected", "rejected", "rejected", "fact"]
    assert silver["reason"].to_pylist()[2:5] == ["id_collision", "malformed", "missing_who"]
    assert silver["raw"].to_pylist()[3] == b"\xff\xfe not json"
    assert rows(jobs[0].place.table, 6)["offset"].to_pylist() == [0, 1, 2, 3, 4, 5]


@pytest.fixture
def dropping(source: Source, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A shape that drops rows, until it is mended."""
    shapes = import_module("domains.toy.shapes").SHAPES
    good = shapes[source.name]
    monkeypatch.setitem(shapes, source.name, lambda records: good(records).where("offset <> 1"))
    return lambda: monkeypatch.setitem(shapes, source.name, good)


def test_a_bug_in_a_shape_stops_the_shape_and_not_the_archive(
    dropping: Callable[[], None], tended: Tended, jobs: list[Job], send: Callable[..., None]
) -> None:
    for number in range(3):
        send({"who": "ada", "amount": number})
    assert rows(jobs[0].place.table, 3).num_rows == 3
    shape = tended.streams[1].progress
    until(lambda: shape.state == "failed")
    assert "3 records in, 2 rows out" in shape.sentence
    assert "correct it and start the driver again" in shape.todo
    assert DeltaTable(jobs[1].place.table).to_pyarrow_table().num_rows == 0
    dropping()
    assert rows(jobs[1].place.table, 3)["offset"].to_pylist() == [0, 1, 2]


def test_a_lost_checkpoint_is_rebuilt_and_nothing_comes_twice(
    spark: SparkSession, broker: str, settings: Settings, jobs: list[Job], send: Callable[..., None]
) -> None:
    own = replace(settings, kafka=broker)
    with Tended(spark, own, jobs):
        for number in range(3):
            send({"who": "ada", "amount": number}, partition=number % 2)
        for job in jobs:
            rows(job.place.table, 3)
    shutil.rmtree(jobs[0].place.checkpoint)
    Path(jobs[1].place.checkpoint, "offsets", "0").write_text("v1\n{")
    assert checkpoints.examine(jobs[0].place).startswith("lost")
    assert checkpoints.examine(jobs[1].place).startswith("damaged")
    with Tended(spark, own, jobs) as tended:
        send({"who": "ada", "amount": 4})
        for job in jobs:
            assert rows(job.place.table, 4)["offset"].to_pylist() == [0, 1, 2, 0]
        until(lambda: all(stream.progress.epochs > 0 for stream in tended.streams))
    assert [checkpoints.examine(job.place) for job in jobs] == ["", ""]


def test_the_books_balance_and_are_posted_once(
    tended: Tended, broker: str, settings: Settings, jobs: list[Job], send: Callable[..., None], source: Source
) -> None:
    send({"who": "ada", "amount": 1}, "one")
    send({"who": "ada", "amount": 1}, "one")
    send(b"{")
    for job in jobs:
        rows(job.place.table, 3)
    layout = Layout(settings.lake)
    assert post(layout, (source,), "r1") > 0
    assert post(layout, (source,), "r1") == 0
    booked = balance(layout.ledger(), broker, source=source.name)
    counts = [sum(getattr(row, name) for row in booked) for name in ("accepted", "archived", "facts", "duplicates")]
    assert (counts, all(row.balanced for row in booked)) == ([3, 3, 1, 1], True)
    assert [row.reasons for row in booked if row.rejected] == [{"malformed": 1}]


def test_records_reads_bronze_and_then_the_log_as_one(
    spark: SparkSession, broker: str, settings: Settings, jobs: list[Job], send: Callable[..., None], source: Source
) -> None:
    own = replace(settings, kafka=broker)
    with Tended(spark, own, jobs[:1]):
        send({"who": "archived"})
        rows(jobs[0].place.table, 1)
    send({"who": "on the log"})
    send({"who": "elsewhere"}, partition=1)
    read = records(spark, own, source.name, end={1: 0})
    assert [row.offset for row in read.orderBy("partition", "offset").collect()] == [0, 1]


def test_a_gap_in_the_log_is_named_and_only_an_operator_accepts_it(
    spark: SparkSession, broker: str, settings: Settings, jobs: list[Job], send: Callable[..., None], source: Source
) -> None:
    own = replace(settings, kafka=broker)
    with Tended(spark, own, jobs[:1]):
        send({"who": "read in time"})
        rows(jobs[0].place.table, 1)
    for number in range(3):
        send({"who": f"lost {number}"})
    forget(broker, source.name, before=3)
    with Tended(spark, own, jobs[:1]) as tended:
        until(lambda: tended.streams[0].progress.state == "failed")
        assert "2 records of" in tended.streams[0].progress.sentence
    found = gaps.gaps(broker, source.name, {0: 1})
    written = checkpoints.book(jobs[0].place.table)
    checkpoints.rewrite(jobs[0].place, replace(written, after={"0": 3}), done=True)
    ledger = Layout(settings.lake).ledger()
    assert [gaps.book(broker, ledger, found) for _ in range(2)] == [2, 2]
    with Tended(spark, own, jobs[:1]):
        assert rows(jobs[0].place.table, 2)["offset"].to_pylist() == [0, 3]
    post(Layout(settings.lake), (source,), "r1")
    assert sum(row.lost for row in balance(ledger, broker, source=source.name)) == 2


def test_a_transaction_leaves_a_hole_in_the_offsets_and_none_in_silver(
    tended: Tended, broker: str, jobs: list[Job], send: Callable[..., None], source: Source, settings: Settings
) -> None:
    in_transactions(broker, source)
    send({"who": "after it"})
    for job in jobs:
        # Where the second mark lies is the broker's to say.
        assert rows(job.place.table, 3)["offset"].to_pylist()[:2] == [0, 2]
    bronze, layout = jobs[0].place.table, Layout(settings.lake)
    holes = holes_of(bronze)
    assert holes[0] == (0, 1, 2)
    # Nobody knows, until the log has said it; that is kept, for the log forgets.
    assert [lost(layout, log, source.name, holes) for log in (NOWHERE, broker, NOWHERE)] == [holes, [], []]

    # A record that bronze lost is told from them, also beside them.
    DeltaTable(bronze).delete('"offset" = 2')
    assert lost(layout, broker, source.name, holes_of(bronze)) == holes_of(bronze)[:1]


def in_transactions(broker: str, source: Source) -> None:
    """Two records, each in a transaction of its own."""
    producer = Producer({"bootstrap.servers": broker, "transactional.id": source.name, "log_level": 0})
    producer.init_transactions()
    for number in range(2):
        producer.begin_transaction()
        producer.produce(source.name, json.dumps({"who": f"in a transaction {number}"}).encode(), partition=0)
        producer.commit_transaction()


@pytest.mark.parametrize("known", [500, 3], ids=["shorter", "longer than the old one"])
def test_a_topic_made_again_is_named(known: int) -> None:
    gap = gaps.Gap("toy.events", 0, known, 3, "recreated")
    with pytest.raises(gaps.GapFound, match=r"deleted and made again.*new source's name"):
        gaps.refuse([gap])


def test_a_topic_made_again_beyond_the_old_offsets_is_not_read(
    tended: Tended, broker: str, jobs: list[Job], send: Callable[..., None], source: Source
) -> None:
    send({"who": "of the old topic"})
    for job in jobs:
        rows(job.place.table, 1)
    made_again(broker, source)
    for number in range(3):
        send({"who": f"of the new topic {number}"})
    for stream in tended.streams:
        until(lambda stream=stream: "deleted and made again" in stream.progress.sentence)  # type: ignore[misc]
    assert [DeltaTable(job.place.table).to_pyarrow_table().num_rows for job in jobs] == [1, 1]


def made_again(broker: str, source: Source) -> None:
    admin = AdminClient({"bootstrap.servers": broker})
    for done in admin.delete_topics([source.name]).values():
        done.result()
    until(lambda: source.name not in admin.list_topics(timeout=10).topics)
    ensure(broker, [source])
