"""A shape cannot tell a sealed record from a plain one, until a key is gone; then it is told nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import orjson
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from domains.web.model import EVENTS
from penstock.engine.archive import BRONZE
from penstock.engine.shape import Shape
from penstock.keys.sealing import Sealers, agent_first, nonces, whom
from penstock.keys.store import Keys
from penstock.lake.layout import Layout
from penstock.lake.records import COLUMNS
from penstock.model.record import SUBJECTS
from penstock.settings import Settings

EVENT = {"type": "pageview", "site": "a.example", "visitor": "v1", "user": "u1", "url": "https://a.example/x"}
AGENT = b"Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"
AT = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def keys(spark: SparkSession, settings: Settings) -> Iterator[Keys]:
    before = spark.conf.get("spark.penstock.keys")
    spark.conf.set("spark.penstock.keys", str(settings.home / "keys"))
    yield Keys.of_home(settings.home)
    spark.conf.set("spark.penstock.keys", before)


def record(offset: int, value: bytes, headers: dict[str, bytes]) -> dict[str, Any]:
    told = [{"key": name, "value": said} for name, said in {"event_id": b"e1", **headers}.items()]
    place = {"partition": 0, "offset": offset, "timestamp": AT, "day": AT.date(), "epoch": 0}
    return {"key": b"k", "value": value, "headers": told, **place}


def sealed(keys: Keys, value: bytes) -> tuple[bytes, dict[str, bytes]]:
    sealers, named = Sealers(keys), whom(EVENTS, EVENT)
    sealers.known()
    sealers.learn([named])
    sealer = sealers.known()[named]
    return sealer.seal(agent_first(AGENT) + value, next(iter(nonces(1)))), {SUBJECTS: sealer.subjects}


def test_a_sealed_record_is_shaped_as_the_plain_one_and_an_erased_one_says_nothing(
    spark: SparkSession, settings: Settings, keys: Keys
) -> None:
    value = orjson.dumps(EVENT)
    both = [record(0, value, {"user_agent": AGENT}), record(1, *sealed(keys, value))]
    frame = spark.createDataFrame(pa.Table.from_pylist(both, BRONZE).select(list(COLUMNS)))
    shape = Shape(EVENTS, Layout(settings.lake), "r1")
    plain, opened = shape.shaped(frame).sort_by("offset").to_pylist()
    assert {**plain, "offset": 1} == opened
    assert (opened["visitor"], opened["browser"], opened["reason"]) == ("v1", "Firefox", None)
    keys.destroy(keys.tokens("web", ["u1"]).values(), "erase/1")
    plain, erased = shape.shaped(frame).sort_by("offset").to_pylist()
    assert (plain["visitor"], erased["reason"], erased["event_id"]) == ("v1", "erased", "e1")
    kept = {"partition", "offset", "event_id", "received_at", "logged_at", "reason"}
    assert {name for name, said in erased.items() if said is not None} == kept
