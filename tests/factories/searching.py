"""Looks for words in every byte below a folder: as it is on disk, and unpacked where files are packed."""

import re
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

Found = dict[str, set[str]]


def below(folder: Path, prefix: str) -> Found:
    """Words of this prefix and four digits, with the files that have them."""
    found: Found = defaultdict(set)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        for content in (file.read_bytes(), _unpacked(file)):
            for word in _words(content, prefix):
                found[word].add(str(file.relative_to(folder)))
    return dict(found)


def _unpacked(file: Path) -> bytes:
    """The columns of a Parquet file, which pages hold packed."""
    if file.suffix != ".parquet":
        return b""
    buffer = pa.BufferOutputStream()
    table = pq.ParquetFile(file).read()
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return bytes(buffer.getvalue())


def on_log(kafka: str, topic: str, prefix: str) -> set[str]:
    """The same in a topic, as its records are once their batches are unpacked."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "searching", "enable.auto.commit": False})
    found: set[str] = set()
    for part in consumer.list_topics(topic, timeout=10).topics[topic].partitions:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, part), timeout=10)
        consumer.assign([TopicPartition(topic, part, low)])
        while low < high:
            for message in consumer.consume(1000, 1.0):
                low = (message.offset() or 0) + 1
                headers = b" ".join(value for _, value in message.headers() or () if isinstance(value, bytes))
                found |= _words(b" ".join([message.key() or b"", message.value() or b"", headers]), prefix)
    consumer.close()
    return found


def _words(content: bytes, prefix: str) -> set[str]:
    return {word.decode() for word in re.findall(re.escape(prefix).encode() + rb"\d{4}", content)}
