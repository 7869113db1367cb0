"""A lake of the web domain whose epochs tests write themselves: no log, no stream; Spark only for builds.

Addresses and agents are read as the shapes read them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa
from pyspark.sql import SparkSession

from domains.web import known
from domains.web.model import EVENTS
from domains.web.views import VIEWS
from penstock.engine import silver
from penstock.engine.commit import Appender, create
from penstock.engine.speed import append
from penstock.lake import profiles
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.domain import source
from penstock.model.source import Source
from penstock.model.view import View, source_of
from penstock.serve.question import ask
from penstock.serve.reader import Answer, Reader

QUERY = "the-shape-query"
ARROW = {"bigint": pa.int64(), "boolean": pa.bool_(), "map<string,string>": pa.map_(pa.string(), pa.string())}
NOW = datetime(2026, 11, 1, tzinfo=UTC)

Event = Mapping[str, Any]


@dataclass
class WebLake:
    """Events in, answers out."""

    layout: Layout
    spark: SparkSession | None = None
    # Each view's table takes time: a test of few views names them.
    only: tuple[str, ...] = ()
    told: dict[str, list[pa.Table]] = field(default_factory=dict)
    # Of each source, when its epochs were told among those of all.
    turns: dict[str, list[int]] = field(default_factory=dict)

    def tell(self, events: Iterable[Event], name: str = EVENTS.name) -> None:
        """Commits one epoch of facts to silver and to the speed tables, as the stream does."""
        asked, epochs = source(name), self.told.setdefault(name, [])
        views = [view for view in VIEWS if source_of(view).name == name and (not self.only or view.name in self.only)]
        ends = {name: each.ends() for name, each in profiles.profiles_of(self.layout, FIRST_RELEASE, views).items()}
        rows = rows_of(asked, [*events], len(epochs), sum(map(len, epochs)), profiles.known(ends))
        self.turns.setdefault(name, []).append(sum(map(len, self.turns.values())))
        number, path = len(epochs), self.layout.silver(FIRST_RELEASE, name)
        epochs.append(rows)
        create(path, rows.schema, silver.INDEXED)
        Appender(path).append(rows, QUERY, number)
        append(self.spark, self.layout, FIRST_RELEASE, views, rows, number, QUERY)  # type: ignore[arg-type]

    def reject(self, records: Iterable[Mapping[str, Any]], name: str = EVENTS.name) -> None:
        """Commits one epoch of records that are no facts: each with its place, its moment, a reason and its bytes."""
        asked, path = source(name), self.layout.silver(FIRST_RELEASE, name)
        rows = [
            {
                "epoch": 0, "disposition": "rejected", "content_hash": 0, **one,
                "received_at": one["logged_at"], "day": one["logged_at"].date(),
            }
            for one in records
        ]  # fmt: skip
        table = pa.Table.from_pylist(rows, columns(asked))
        create(path, table.schema, silver.INDEXED)
        Appender(path).append(table, f"{QUERY}-rejected", 0)

    def build(self, views: Iterable[View], gate: Any) -> list[Any]:
        from penstock.engine.build import Batch

        assert self.spark is not None
        return Batch(self.spark, self.layout, FIRST_RELEASE, gate).build(views)

    def reader(self) -> Reader:
        reader = Reader(self.layout)
        reader.refresh()
        return reader

    def answer(self, view: str, reader: Reader | None = None, **said: str) -> Answer:
        reader = reader or self.reader()
        asked = {"from": "2026-01-01", "to": "2026-12-31", **said}
        return reader.answer(ask(reader.view(view), list(asked.items()), NOW))

    def rows(self, view: str, **said: str) -> list[dict[str, Any]]:
        return self.answer(view, **said).rows.to_pylist()

    def facts(self, name: str = EVENTS.name) -> pa.Table:
        """Everything that was ever told, for an oracle, and at which turn."""
        told = zip(self.told[name], self.turns[name], strict=True)
        return pa.concat_tables(
            rows.append_column("turn", pa.array([turn] * len(rows), pa.int64())) for rows, turn in told
        )


def rows_of(asked: Source, events: list[Event], epoch: int, offset: int, known: str | None = None) -> pa.Table:
    """Silver's rows of some events, all of them facts."""
    shape = fact if asked is EVENTS else dict
    rows = [
        {
            "partition": 0, "offset": offset + i, "epoch": epoch, "event_id": f"{asked.name}-{offset + i}",
            "disposition": "fact", "flags": [], "content_hash": 0, "known": known, **shape(one),
            **_times(one["happened_at"]),
        }
        for i, one in enumerate(events)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, columns(asked))


def columns(asked: Source) -> pa.Schema:
    """Silver's columns of a source, without Spark's parser of types."""
    own = [(one.name, ARROW.get(one.type, pa.string())) for one in asked.fields]
    return pa.schema([*silver.BEFORE_FACTS.items(), *own, *silver.AFTER_FACTS.items()])


def fact(event: Event) -> dict[str, Any]:
    """What the shape makes of a valid event; fields that are given already win."""
    address = urlsplit(event["url"])
    tags = dict(parse_qsl(address.query))
    agent = known.agent(event.get("user_agent", ""))._asdict()
    came = urlsplit(event.get("referrer") or "").hostname or ""
    place, referrer = known.place(event.get("timezone", "")), known.referrer(tags.get("utm_source", came))
    inside = came == address.hostname and "utm_source" not in tags
    derived = {
        "host": address.hostname,
        "page": "/" + address.path.strip("/"),
        "country": place.country,
        "region": place.region,
        "referrer_source": "Internal" if inside else referrer.source,
        "channel": "Internal" if inside else referrer.channel,
        "props": [(name, str(value)) for name, value in event.get("props", {}).items()] or None,
    }
    return {**agent, **tags, **derived, **{name: it for name, it in event.items() if name != "props"}}


def _times(happened_at: str | datetime) -> dict[str, datetime | date]:
    at = datetime.fromisoformat(happened_at) if isinstance(happened_at, str) else happened_at
    at = at.astimezone(UTC)
    return {"happened_at": at, "received_at": at, "logged_at": at, "day": at.date()}
