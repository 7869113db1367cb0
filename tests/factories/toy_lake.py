"""A lake of the toy domain whose epochs tests write themselves: no log, no stream."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from penstock.engine import silver
from penstock.engine.build import Batch, Built
from penstock.engine.commit import Appender, create
from penstock.engine.speed import append
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.domain import Domain
from penstock.serve.question import ask
from penstock.serve.reader import Answer, Reader

MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
QUERY = "the-shape-query"
# As silver.schema(source) has it, which needs a JVM to read the fields' types.
TOY_FACT = {"who": pa.string(), "what": pa.string(), "amount": pa.int64()}
SCHEMA = pa.schema([*silver.BEFORE_FACTS.items(), *TOY_FACT.items(), *silver.AFTER_FACTS.items()])


@dataclass(frozen=True)
class Passed:
    """What a gate that likes everything answers."""

    passed: bool = True
    reason: str = ""


@dataclass
class ToyLake:
    """Epochs in, answers out."""

    # Needed by builds alone.
    spark: SparkSession | None
    layout: Layout
    domain: Domain
    epochs: list[pa.Table] = field(default_factory=list)
    release: str = FIRST_RELEASE

    def epoch(self, facts: Iterable[Mapping[str, Any]]) -> None:
        """Commits one epoch of facts to silver and to the speed tables, as the stream does."""
        self.write(silver_rows(list(facts), len(self.epochs), sum(map(len, self.epochs))))

    def write(self, rows: pa.Table) -> None:
        """Commits an epoch of any rows of silver."""
        self.epochs.append(rows)
        self.commit(len(self.epochs) - 1)

    def commit(self, number: int) -> None:
        """Commits an epoch; again, if it was committed before."""
        rows, source = self.epochs[number], self.domain.sources[0]
        path = self.layout.silver(self.release, source.name)
        create(path, SCHEMA, silver.INDEXED)
        Appender(path).append(rows, QUERY, number)
        append(self.spark, self.layout, self.release, self.domain.views, silver.facts(rows), number, QUERY)

    def build(self, gate: Any = lambda rows, name: Passed(), **how: Any) -> list[Built]:
        return Batch(self.spark, self.layout, self.release, gate).build(self.domain.views, **how)

    def answer(self, view: str, reader: Reader | None = None, **said: str) -> Answer:
        if reader is None:
            reader = Reader(self.layout)
            reader.refresh()
        asked = {"from": "2026-01-01", "to": "2026-12-31", **said}
        question = ask(reader.view(view), list(asked.items()), MIDNIGHT + timedelta(days=9))
        return reader.answer(question)

    def rows(self, view: str, **said: str) -> list[dict[str, Any]]:
        return self.answer(view, **said).rows.to_pylist()

    def facts(self) -> pa.Table:
        """Everything that was ever told, for an oracle."""
        return pa.concat_tables(self.epochs)


def answers(lake: ToyLake) -> dict[str, list[dict[str, Any]]]:
    """What every view says, in an order that does not matter."""
    return {view.name: sorted(lake.rows(view.name), key=str) for view in lake.domain.views}


def fact(who: str = "ann", minutes: float = 0, what: str | None = "look", amount: int | None = 1) -> dict[str, Any]:
    """One fact, so many minutes after midnight."""
    return {"who": who, "what": what, "amount": amount, "happened_at": MIDNIGHT + timedelta(minutes=minutes)}


def traffic(seed: int, number: int) -> list[dict[str, Any]]:
    """Facts of few people over three days, some of them hours late, in the order in which they arrive."""
    chance = random.Random(seed)  # noqa: S311
    told = []
    for _ in range(number):
        minutes = min(chance.expovariate(1 / 900), 4320) if chance.random() < 0.3 else chance.random() * 4320
        who, what = f"v{chance.randrange(6)}", chance.choice(["look", "buy", "noise", None])
        told.append(fact(who, round(minutes, 2), what, chance.choice([None, *range(0, 100, 7)])))
    return told


def silver_rows(facts: list[Mapping[str, Any]], epoch: int, offset: int) -> pa.Table:
    """Silver's rows of some facts."""
    fixed = {
        "partition": 0, "epoch": epoch, "received_at": MIDNIGHT, "logged_at": MIDNIGHT, "disposition": "fact",
        "reason": None, "flags": [], "content_hash": 0, "raw": None,
    }  # fmt: skip
    rows = [
        {**fixed, "offset": offset + i, "event_id": f"e{offset + i}", "day": one["happened_at"].date(), **one}
        for i, one in enumerate(facts)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)
