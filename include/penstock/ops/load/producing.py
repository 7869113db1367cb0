"""As many records a second as a producer brings to the log: ours, and Kafka's own tool with the same settings."""

import asyncio
import re
import subprocess
import time
from pathlib import Path

from penstock.log.broker import JARS
from penstock.log.producer import LINGER, Log, Record

# As the edge hands them over: full requests, and as many of them under way as the producer's memory holds.
BATCH, UNDER_WAY = 500, 128
# librdkafka's own batch, and the memory that our producer has.
THEIR_BATCH, MEMORY = 1_000_000, 32 * 1024 * 1024


async def ours(kafka: str, topic: str, payload: bytes, count: int) -> float:
    """Records a second that the log has acknowledged, over the producer that the collector uses."""
    log = Log(kafka, patience=60)
    batch = [Record(topic, payload, None, {})] * BATCH
    await log.append(batch)
    left = iter(range(count // BATCH))
    begun = time.perf_counter()

    async def append() -> None:
        for _ in left:
            await log.append(batch)

    await asyncio.gather(*(append() for _ in range(UNDER_WAY)))
    rate = count / (time.perf_counter() - begun)
    await log.close()
    return rate


def theirs(kafka: str, topic: str, payload: bytes, count: int, folder: Path) -> float:
    """The same from org.apache.kafka.tools.ProducerPerformance, which counts from its first record on."""
    file = folder / "payload"
    file.write_bytes(payload)
    props = {
        "bootstrap.servers": kafka,
        "acks": "all",
        "enable.idempotence": "true",
        "linger.ms": LINGER,
        "compression.type": "lz4",
        "batch.size": THEIR_BATCH,
        "buffer.memory": MEMORY,
    }
    command = ["java", "-cp", f"{JARS}/*", "org.apache.kafka.tools.ProducerPerformance", "--topic", topic]
    command += ["--num-records", str(count), "--throughput", "-1", "--payload-file", str(file), "--producer-props"]
    command += [f"{name}={value}" for name, value in props.items()]
    said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return float(re.findall(r"([\d.]+) records/sec", said)[-1])
