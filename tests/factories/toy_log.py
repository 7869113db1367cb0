"""A log without a broker, of the toy domain unless another source is named: records as bronze has them, and epochs."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from penstock.engine.archive import BRONZE, INDEXED
from penstock.engine.commit import Appender, create
from penstock.engine.epoch import Epoch
from penstock.engine.shape import Shape
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.records import COLUMNS
from penstock.model.domain import source
from penstock.serve.reader import Reader

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ARCHIVE, SHAPE = "the-archive-query", "the-live-query"


@dataclass
class ToyLog:
    """Records in: archived by one stream and shaped by another, as the driver does it."""

    # Without Spark, records are archived and no live release shapes them.
    spark: SparkSession | None
    layout: Layout
    source: str = "toy.events"
    epochs: int = 0
    ends: dict[int, int] = field(default_factory=dict)
    shape: Shape | None = None

    def take(self, told: list[dict[str, Any]]) -> None:
        """One epoch of the archive, and one of the shape if the live release is kept up."""
        self.commit(self.records(told))

    def records(self, told: list[dict[str, Any]]) -> pa.Table:
        """What the log makes of it, as bronze has it."""
        return pa.Table.from_pylist([self._record(one) for one in told], BRONZE)

    def commit(self, records: pa.Table) -> None:
        """The epoch that is next; again, if it was cut off."""
        create(self.layout.bronze(self.source), BRONZE, INDEXED)
        Appender(self.layout.bronze(self.source)).append(records, ARCHIVE, self.epochs)
        if self.spark is not None:
            self._live(self.spark, records)
        self.epochs += 1

    def dies(self) -> None:
        """The live stream is another process from now on, which has only the files."""
        self.shape = None

    def _live(self, spark: SparkSession, records: pa.Table) -> None:
        if self.shape is None:
            self.shape = Shape(source(self.source), self.layout, FIRST_RELEASE)
            self.shape.prepare()
        frame = spark.createDataFrame(records.select(list(COLUMNS))).coalesce(1)
        self.shape.epoch(self.shape.plan(frame), Epoch(SHAPE, self.epochs, records.num_rows))
        self.shape.behind.settle()

    def _record(self, one: dict[str, Any]) -> dict[str, Any]:
        part = one.get("partition", 0)
        self.ends[part] = self.ends.get(part, 0) + 1
        at = one.get("at", NOON)
        name = [{"key": "event_id", "value": one["id"].encode()}] if one.get("id") else []
        return {
            "key": b"k", "value": one["value"], "headers": name, "partition": part, "offset": self.ends[part] - 1,
            "timestamp": at, "day": at.date(), "epoch": self.epochs,
        }  # fmt: skip


def silver(log: ToyLog, release: str) -> pa.Table:
    """A release's silver without its epochs, in the log's order."""
    rows = DeltaTable(log.layout.silver(release, log.source)).to_pyarrow_table()
    return rows.drop_columns("epoch").sort_by([("partition", "ascending"), ("offset", "ascending")])


def answers(log: ToyLog, release: str = "") -> dict[str, list[dict[str, Any]]]:
    """Every view's rows, as a new reader sees them; of the release that is current where none is named."""
    reader = Reader(log.layout, fixed={"toy": release} if release else {})
    reader.refresh()
    tables = {name: reader.table(view) for name, view in reader.views().items() if name.startswith("toy.")}
    # A quantile's sketch throws coins.
    shown = {name: [each for each in rows.column_names if "p95" not in each] for name, rows in tables.items() if rows}
    return {name: tables[name].select(columns).to_pylist() for name, columns in shown.items()}


def said(
    who: str | None = "ann",
    what: str | None = "look",
    amount: int | None = 1,
    happened_at: datetime | None = None,
    **more: Any,
) -> dict[str, Any]:
    """One record that holds an event; what is None is missing."""
    at = happened_at.isoformat() if happened_at else None
    event = {"who": who, "what": what, "amount": amount, "happened_at": at}
    return {"value": json.dumps({key: value for key, value in event.items() if value is not None}).encode(), **more}


def traffic(seed: int, number: int) -> list[dict[str, Any]]:
    """Good, repeated, colliding, incomplete and broken records over half a day, in the order of arrival."""
    chance = random.Random(seed)  # noqa: S311

    def event(_: datetime, nth: int) -> dict[str, Any]:
        return said(f"v{chance.randrange(9)}", chance.choice(["look", "buy"]), chance.randrange(100), id=f"e{nth}")

    return arriving(chance, number, event)


def arriving(
    chance: random.Random, number: int, event: Callable[[datetime, int], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The same of any events, each made for its arrival and its number."""
    told: list[dict[str, Any]] = []
    for nth in range(number):
        at = NOON + timedelta(seconds=nth * 40_000 / number)
        kind = chance.choices(["good", "repeat", "collision", "incomplete", "broken"], [65, 15, 8, 7, 5])[0]
        one = event(at, nth)
        if kind == "repeat" and told:
            one = dict(chance.choice(told))
        elif kind == "collision" and told:
            one["id"] = chance.choice(told)["id"]
        elif kind == "incomplete":
            one = said(None, id=one["id"])
        elif kind == "broken":
            one["value"] = b"{"
        told.append({**one, "at": at, "partition": chance.randrange(2)})
    return told
