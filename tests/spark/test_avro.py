"""Avro records of old and new writers become facts as JSON does, and no schema can stop a stream."""

import asyncio
import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fastavro import schemaless_writer
from pyspark.sql import SparkSession
from tending import Tended, rows

from penstock.collect.registry.schemas import Registry
from penstock.engine.archive import Archive
from penstock.engine.avro import readable
from penstock.engine.shape import Shape
from penstock.lake.layout import Layout
from penstock.log.schemas import Schemas
from penstock.model.source import Source
from penstock.settings import Settings


def schema(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "Event", "fields": [{"name": "who", "type": "string"}, *fields]}


OLD = schema()
NEW = schema({"name": "amount", "type": ["null", "long"], "default": None})


def framed(number: int, written_by: dict[str, Any], event: dict[str, Any]) -> bytes:
    body = io.BytesIO()
    schemaless_writer(body, written_by, event)
    return bytes([0, *number.to_bytes(4, "big")]) + body.getvalue()


@pytest.fixture
def register(broker: str, source: Source) -> Callable[[object], int]:
    return lambda told: asyncio.run(Registry(broker).register(f"{source.name}-value", json.dumps(told)))


def test_old_and_new_writers_are_read_by_the_schema_that_each_names(
    spark: SparkSession,
    broker: str,
    settings: Settings,
    source: Source,
    send: Callable[..., None],
    register: Callable[[object], int],
) -> None:
    layout, schemas = Layout(settings.lake), Schemas(broker)
    shape = Shape(source, layout, "r1", lambda: schemas.of_source(source.name))
    old = register(OLD)
    with Tended(spark, replace(settings, kafka=broker), [Archive(source, layout), shape]):
        send(framed(old, OLD, {"who": "ada"}))
        rows(shape.place.table, 1)
        # The stream runs already when a newer writer comes.
        send(framed(register(NEW), NEW, {"who": "bob", "amount": 25}))
        send(framed(9999, OLD, {"who": "eve"}))
        send(framed(old, OLD, {"who": "cut off"})[:7])
        send({"who": "json", "amount": 1})
        silver = rows(shape.place.table, 5)
    assert silver["who"].to_pylist()[:2] == ["ada", "bob"]
    assert silver["amount"].to_pylist()[1] == 25
    assert silver["reason"].to_pylist() == [None, None, "malformed", "malformed", None]
    assert silver["raw"].to_pylist()[2] == framed(9999, OLD, {"who": "eve"})


@pytest.mark.parametrize(
    "told",
    ['"string"', '{"type": "array", "items": "int"}', json.dumps(schema({"name": "next", "type": ["null", "Event"]}))],
    ids=["no record", "array", "recursive"],
)
def test_a_schema_that_spark_cannot_read_stops_nothing(spark: SparkSession, told: str) -> None:
    assert not readable(told)
