"""What the streams stand on: the disk and the log."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from penstock.ops.watch.finding import Finding

GIB = 1 << 30
# A build writes a candidate beside gold: below this it may not fit.
FREE_BYTES = {"critical": GIB // 2, "warning": 2 * GIB}
LOG_SECONDS = 5


def disk(home: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(home).free
    severity = next((name for name, limit in FREE_BYTES.items() if free < limit), None)
    if severity:
        text = f"{free / GIB:.1f} GiB are free where {home} is. Make room before streams and builds have to stop."
        yield Finding("disk_full", "disk", severity, text)


def log(kafka: str) -> Iterator[Finding]:
    """The broker must answer, and every partition must have a leader."""
    try:
        topics = AdminClient({"bootstrap.servers": kafka, "log_level": 0}).list_topics(timeout=LOG_SECONDS).topics
    except KafkaException as error:
        text = f"The log at {kafka} does not answer: {error.args[0].str()}. The collector spools to disk meanwhile."
        yield Finding("log_down", "log", "critical", text)
        return
    headless = [
        f"{name}[{number}]"
        for name, topic in topics.items()
        for number, partition in topic.partitions.items()
        if partition.leader < 0
    ]
    if headless:
        yield Finding("log_down", "log", "critical", f"Partitions without a leader: {', '.join(headless)}.")
