"""Recomputes from the raw log what silver must say, with DuckDB and the words of the specification only."""

from typing import Any

import duckdb
import pyarrow as pa
from confluent_kafka import Consumer, TopicPartition

Row = tuple[Any, ...]

# One wrong thing a record is enough to be rejected; traffic never bends two at once, so order is no matter.
JUDGED = """
create table judged as
with opened as (
    select *, try_cast(text as json) as event, coalesce(received_at, logged_at) as received
    from log
), told as (
    select *,
        case when json_type(event) = 'OBJECT' then event end as object,
        object ->> 'type' as type,
        object ->> 'site' as site,
        object ->> 'visitor' as visitor,
        object ->> 'url' as url,
        object ->> 'happened_at' as happened,
        coalesce(object ->> 'event_id', header_id, topic || '/' || partition || '/' || "offset") as event_id,
        case when happened is null then received
            when regexp_full_match(happened, '[0-9]+') then make_timestamptz(happened::bigint * 1000)
            else try_cast(happened as timestamptz) end as told_at
    from opened
), ruled as (
    select *,
        case when object is null then 'malformed'
            when type is null then 'missing_type'
            when site is null then 'missing_site'
            when visitor is null then 'missing_visitor'
            when url is null then 'missing_url'
            when type not in ('pageview', 'engagement', 'event') then 'unknown_type'
            when not regexp_matches(url, '^https?://[^/ ]+') then 'bad_url'
            when told_at is null then 'bad_happened_at'
            when json_type(object -> 'load_ms') = 'VARCHAR' then 'bad_load_ms'
            when json_type(object -> 'title') not in ('VARCHAR', 'NULL') then 'bad_title'
            when length(object ->> 'title') > 4096 then 'bad_title'
            when told_at < received - interval 400 days then 'too_old'
            when told_at > received + interval 24 hours then 'in_future'
        end as rule
    from told
), firsts as (
    select *, first_value(value) over same_id as original, row_number() over same_id as nth
    from ruled
    window same_id as (partition by event_id, rule is null order by partition, "offset")
)
select partition, "offset", event_id,
    case when rule is not null then 'rejected'
        when nth = 1 then 'fact'
        when value = original then 'duplicate'
        else 'rejected' end as disposition,
    coalesce(rule, case when nth > 1 and value <> original then 'id_collision' end) as reason,
    case when rule is null then epoch_ms(least(told_at, received)) end as happened_ms,
    case when disposition = 'rejected' then value end as raw
from firsts
"""
# The specification says nothing of when a record of no meaning happened.
TOLD = """
create table told as
select partition, "offset", event_id, disposition, reason,
    case when reason is null or reason = 'id_collision' then epoch_ms(happened_at) end as happened_ms, raw
from silver
"""


def log(kafka: str, topic: str) -> pa.Table:
    """All records of a topic, as a consumer sees them."""
    reader = Consumer({"bootstrap.servers": kafka, "group.id": "oracle", "enable.partition.eof": False, "log_level": 0})
    parts = reader.list_topics(topic, timeout=10).topics[topic].partitions
    ends = {part: reader.get_watermark_offsets(TopicPartition(topic, part)) for part in parts}
    reader.assign([TopicPartition(topic, part, low) for part, (low, _) in ends.items()])
    wanted = sum(high - low for low, high in ends.values())
    rows = []
    while len(rows) < wanted:
        rows += [_row(message) for message in reader.consume(5000, timeout=5)]
    reader.close()
    return pa.Table.from_pylist(rows, SCHEMA)


SCHEMA = pa.schema(
    {
        "topic": pa.string(), "partition": pa.int32(), "offset": pa.int64(), "logged_at": pa.timestamp("ms", "UTC"),
        "received_at": pa.timestamp("ms", "UTC"), "header_id": pa.string(), "value": pa.binary(), "text": pa.string(),
    }
)  # fmt: skip


def _row(message: Any) -> dict[str, Any]:
    headers = dict(message.headers() or [])
    value = message.value() or b""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = None
    return {
        "topic": message.topic(), "partition": message.partition(), "offset": message.offset(),
        "logged_at": message.timestamp()[1], "value": value, "text": text,
        "received_at": int(headers["received_at"]) if "received_at" in headers else None,
        "header_id": headers["event_id"].decode() if "event_id" in headers else None,
    }  # fmt: skip


def differences(records: pa.Table, silver: pa.Table) -> tuple[list[Row], list[Row]]:
    """Rows that must be in silver and are not, and rows that are there and must not be. Every row is compared."""
    with duckdb.connect() as oracle:
        oracle.execute("set timezone = 'UTC'")
        oracle.register("log", records)
        oracle.register("silver", silver)
        oracle.execute(JUDGED)
        oracle.execute(TOLD)
        missing = oracle.sql("from judged except all from told").fetchall()
        return missing, oracle.sql("from told except all from judged").fetchall()
