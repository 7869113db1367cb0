"""Records of the log through the shape of a domain: on Spark's workers, and what the engine adds on the driver."""

import io
import json
from functools import partial
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from factories.web_records import ARRIVED
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from domains.web.model import EVENTS
from penstock.engine import shapes, silver
from penstock.engine.envelope import shown
from penstock.engine.shapes import OfTables, collected, planned

RECORD = (
    "partition int, offset bigint, value binary, timestamp timestamp, headers array<struct<key: string, value: binary>>"
)
VIEWED = {"type": "pageview", "site": "a.example", "visitor": "v1", "url": "https://a.example/x"}
VALUES = [json.dumps(VIEWED).encode(), None, b"", b"\xff", b'{"nope', "é".encode() * 100]


def logged(spark: SparkSession, *records: tuple[bytes | None, list[tuple[str, bytes]] | None]) -> DataFrame:
    rows = [(3, offset, value, ARRIVED, headers) for offset, (value, headers) in enumerate(records)]
    return spark.createDataFrame(rows, RECORD)


def shaped(records: DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = collected(planned(records, EVENTS, {}), EVENTS).sort_by("offset").to_pylist()
    return rows


def test_the_envelope_says_who_where_and_when_so_that_a_replay_says_the_same(spark: SparkSession) -> None:
    earlier = int(ARRIVED.timestamp() * 1000) - 5
    headers = [
        ("event_id", b"e1"),
        ("event_id", b"e2"),
        ("client_place", "SE/Skåne".encode()),
        ("received_at", str(earlier).encode()),
        ("user_agent", b"curl/8 \xff"),
    ]
    (row,) = shaped(logged(spark, (VALUES[0], headers)))
    assert (row["event_id"], row["country"], row["region"], row["bot"]) == ("e1", "SE", "Skåne", True)
    assert row["received_at"].timestamp() * 1000 == earlier


@pytest.mark.parametrize("headers", [None, [], [("received_at", b"soon")], [("received_at", b"")]])
def test_records_without_an_envelope_are_named_for_their_place(
    spark: SparkSession, headers: list[tuple[str, bytes]] | None
) -> None:
    rows = shaped(logged(spark, (VALUES[0], headers), (b"", headers)))
    assert [row["event_id"] for row in rows] == ["web.events/3/0", "web.events/3/1"]
    assert [row["reason"] for row in rows] == [None, "malformed"]
    assert {row["received_at"] for row in rows} == {ARRIVED}


def test_contents_are_told_apart_as_they_always_were(spark: SparkSession) -> None:
    records = logged(spark, *((value, None) for value in VALUES))
    expected = [row.hash for row in records.orderBy("offset").select(F.xxhash64("value").alias("hash")).collect()]
    assert [row["content_hash"] for row in shaped(records)] == expected


def test_contents_are_told_apart_wherever_they_lie(spark: SparkSession) -> None:
    values = pa.array([*VALUES, None, b""], pa.binary())
    parts = pa.chunked_array([values.slice(2), values.slice(0, 2), values.slice(0, 0), pa.nulls(1, pa.binary())])
    rows = spark.createDataFrame([(value,) for value in parts.to_pylist()], "value binary")
    expected = [row.hash for row in rows.select(F.xxhash64("value").alias("hash")).collect()]
    assert shapes._hashes(parts).to_pylist() == expected


def test_a_shape_of_rows_gives_the_same_as_one_of_tables(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    records = logged(spark, *((value, [("event_id", b"e1")]) for value in VALUES))
    expected, of_tables = shaped(records), shapes.shape_of(EVENTS)
    assert isinstance(of_tables, OfTables)
    told = shapes.told_of(EVENTS)

    def judge(batches: Any) -> Any:
        for batch in batches:
            rows = of_tables.judge(pa.Table.from_batches([batch]).cast(shapes.ASKED))
            yield from rows.select(told.names).cast(told).to_batches()

    of_rows = from_arrow_schema(told)
    monkeypatch.setattr(shapes, "shape_of", lambda source: lambda rows: rows.mapInArrow(judge, of_rows))
    assert shaped(records) == expected


def test_avro_is_judged_as_the_same_in_json_is(spark: SparkSession) -> None:
    schema = {
        "type": "record",
        "name": "event",
        "fields": [{"name": name, "type": "string"} for name in VIEWED],
    }
    body = io.BytesIO()
    fastavro.schemaless_writer(body, schema, VIEWED)
    framed = b"\0" + (7).to_bytes(4, "big") + body.getvalue()
    records = logged(spark, (VALUES[0], []), (framed, []), (framed[:-1], []))
    rows = collected(planned(records, EVENTS, {7: json.dumps(schema)}), EVENTS).sort_by("offset").to_pylist()
    assert [row["reason"] for row in rows] == [None, None, "malformed"]
    assert {name: rows[0][name] for name in VIEWED} == {name: rows[1][name] for name in VIEWED} == VIEWED


def test_many_records_are_judged_in_parts_and_all_are_there(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "TOGETHER", 20)
    records = logged(spark, *((VALUES[0], []) for _ in range(100))).toArrow().combine_chunks()
    of_tables, told = shapes.shape_of(EVENTS), shapes.told_of(EVENTS)
    assert isinstance(of_tables, OfTables)
    through = partial(shapes._through, partial(shapes._opened, None), of_tables.judge, told)
    parts = list(shapes._packed(through, told, records.to_batches(7)))
    tables = [pa.ipc.open_stream(part[shapes.PACKED][0].as_py()).read_all() for part in parts]
    assert [len(table) for table in tables] == [21, 21, 21, 21, 16]
    assert pa.concat_tables(tables)["offset"].to_pylist() == list(range(100))


def test_spark_reads_the_same_envelope_for_checks_of_bronze(spark: SparkSession) -> None:
    headers = [("event_id", b"e1"), ("event_id", b"e2"), ("content_type", b"text/plain")]
    rows = shown(logged(spark, (b"", headers), (b"", None), (b"", []))).orderBy("offset").collect()
    assert [(row.event_id, row.content_type) for row in rows] == [("e1", "text/plain"), (None, None), (None, None)]


def test_the_types_of_columns_are_those_that_spark_calls_so(spark: SparkSession) -> None:
    nested = [
        "map<string,string>",
        "map<string, array<bigint>>",
        "array<map<string,double>>",
        "struct<A: int, b: string>",
    ]
    kinds = [*silver.KINDS, "decimal(18, 6)", "array<decimal(9,2)>", *nested]
    told = StructType.fromDDL(", ".join(f"c{place} {kind}" for place, kind in enumerate(kinds)))
    assert [field.type for field in to_arrow_schema(told, timezone="UTC")] == [*map(silver.arrow, kinds)]
