"""What is read from the log by offsets: all of a range, nothing beside it, and an error where it is no more there."""

from collections.abc import Callable

import pyarrow as pa
import pytest
from confluent_kafka import KafkaException, Producer
from hypothesis import given
from hypothesis import strategies as st
from serving import forget

from penstock.log import reading
from penstock.log.reading import RECORD, Unread, parted, read

HEADERS = [("twice", b"1"), ("twice", b"2"), ("empty", None)]


@pytest.fixture
def send(broker: str, topic: str) -> Callable[..., None]:
    producer = Producer({"bootstrap.servers": broker, "acks": "all", "log_level": 0})

    def send(*values: bytes | None, partition: int = 0) -> None:
        for value in values:
            producer.produce(topic, value, partition=partition, headers=HEADERS if value == b"told" else None)
        producer.flush()

    return send


def found(broker: str, topic: str, offsets: dict[int, tuple[int, int]]) -> list[tuple[int, int]]:
    rows = pa.Table.from_batches(read(broker, topic, offsets), RECORD)
    return list(zip(rows["partition"].to_pylist(), rows["offset"].to_pylist(), strict=True))


def test_a_range_of_each_partition_is_read_and_nothing_beside_it(
    broker: str, topic: str, send: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "AT_ONCE", 2)
    send(*[b"a"] * 9)
    send(*[b"b"] * 3, partition=1)
    assert found(broker, topic, {1: (0, 3), 0: (2, 7)}) == [*((0, at) for at in range(2, 7)), (1, 0), (1, 1), (1, 2)]
    assert found(broker, topic, {0: (4, 4)}) == []


def test_bytes_and_headers_come_as_they_were_sent(broker: str, topic: str, send: Callable[..., None]) -> None:
    send(b"told", None)
    first, second = pa.Table.from_batches(read(broker, topic, {0: (0, 2)}), RECORD).to_pylist()
    assert (first["value"], [tuple(each.values()) for each in first["headers"]]) == (b"told", HEADERS)
    assert (second["key"], second["value"], second["headers"]) == (None, None, None)


def test_the_ends_of_transactions_are_no_records(broker: str, topic: str) -> None:
    producer = Producer({"bootstrap.servers": broker, "transactional.id": topic, "log_level": 0})
    producer.init_transactions()
    for values in (b"ab", b"c"):
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, bytes([value]), partition=0)
        producer.commit_transaction()
    assert found(broker, topic, {0: (0, 3)}) == [(0, 0), (0, 1)]
    assert found(broker, topic, {0: (1, 5)}) == [(0, 1), (0, 3)]


def test_what_passed_retention_is_not_skipped(broker: str, topic: str, send: Callable[..., None]) -> None:
    send(*[b"a"] * 4)
    forget(broker, topic, before=2)
    with pytest.raises(KafkaException):
        found(broker, topic, {0: (1, 4)})


def test_a_log_that_is_shorter_than_it_was_is_named(
    broker: str, topic: str, send: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PATIENCE", 0.5)
    send(b"a")
    with pytest.raises(Unread, match="nothing from offset 1 on"):
        found(broker, topic, {0: (0, 2)})


@given(st.dictionaries(st.integers(0, 9), st.tuples(st.integers(0, 50), st.integers(0, 50))), st.integers(1, 5))
def test_parts_follow_each_other_and_are_as_large(sizes: dict[int, tuple[int, int]], parts: int) -> None:
    offsets = {part: (first, first + size) for part, (first, size) in sizes.items()}
    cut = [_all(each) for each in parted(offsets, parts)]
    assert [record for part in cut for record in part] == _all(offsets)
    assert (len(cut), max(map(len, cut)) - min(map(len, cut)) <= 1) == (parts, True)


def _all(offsets: dict[int, tuple[int, int]]) -> list[tuple[int, int]]:
    return [(part, at) for part, (first, end) in sorted(offsets.items()) for at in range(first, end)]
