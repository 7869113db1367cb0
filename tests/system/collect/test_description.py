"""What the collector says of itself in OpenAPI is true, and whatever is sent after it, nothing is a 5xx or unaccounted.

With PENSTOCK_FULL each operation gets a thousand requests instead of a few.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.log.topics import ensure
from penstock.model.domain import domains

EXAMPLES = "1000" if os.environ.get("PENSTOCK_FULL") else "6"
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance"
)
SOURCES = [source for domain in domains().values() for source in domain.sources]


def ends(kafka: str) -> int:
    """How many records the sources' topics have."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "ends"})
    topics = consumer.list_topics(timeout=10).topics
    parts = [TopicPartition(one.name, part) for one in SOURCES for part in topics[one.name].partitions]
    total = sum(consumer.get_watermark_offsets(part, timeout=10)[1] for part in parts)
    consumer.close()
    return total


def accepted(url: str) -> int:
    told = re.findall(r"^penstock_accepted_total\{.*\} (\d+)$", httpx.get(url + "/metrics").text, re.MULTILINE)
    return sum(map(int, told))


@pytest.mark.timeout(3600 if os.environ.get("PENSTOCK_FULL") else 400)
def test_whatever_follows_the_description_is_answered_as_described_and_accounted_for(
    broker, collector, tmp_path: Path
) -> None:
    ensure(broker, SOURCES)
    before, counted = ends(broker), accepted(collector.url)
    command = [Path(sys.prefix, "bin", "schemathesis"), "run", f"{collector.url}/openapi.json", "--checks", CHECKS]
    command += ["--max-examples", EXAMPLES, "--seed", "7", "--exclude-path", "/v1/{source}/subscribe", "--no-color"]
    command += ["--request-timeout", "30", "--suppress-health-check", "all", "--generation-database", "none"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:]
    assert ends(broker) - before == accepted(collector.url) - counted > 0
