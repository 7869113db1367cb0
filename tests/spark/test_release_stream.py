"""A release's own stream goes on with the record after the last that its replay took from bronze."""

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import SparkSession
from tending import Tended, rows

from penstock.engine.replay import Replay
from penstock.engine.shape import Shape
from penstock.engine.stream import Job
from penstock.lake.layout import Layout
from penstock.model.source import Source
from penstock.settings import Settings


def test_no_record_is_missed_and_none_comes_twice_between_batch_and_stream(
    spark: SparkSession, broker: str, settings: Settings, jobs: list[Job], send: Callable[..., None], source: Source
) -> None:
    own = replace(settings, kafka=broker)
    with Tended(spark, own, jobs[:1]):
        for number in range(4):
            send({"who": "ada", "amount": number}, f"e{number}", partition=number % 2)
        rows(jobs[0].place.table, 4)
    # On the log alone: the archive stands still.
    send({"who": "bob"}, "e4")
    shape = Shape(source, Layout(settings.lake), "r2")
    assert Replay(spark, shape).run().done == 4
    with Tended(spark, own, [shape]):
        send({"who": "ada", "amount": 0}, "e0")
        silver = rows(shape.place.table, 6)
    placed = [(row["partition"], row["offset"], row["disposition"]) for row in silver.to_pylist()]
    assert placed == [
        (0, 0, "fact"), (0, 1, "fact"), (0, 2, "fact"), (0, 3, "duplicate"), (1, 0, "fact"), (1, 1, "fact"),
    ]  # fmt: skip
