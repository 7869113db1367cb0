"""`python -m penstock.ops.stack.warmup` keeps the classes of a broker ready: the next one maps them instead of loading.

Run once at set-up, and again when jars or Java change. Without it everything works, with a slower start.
"""

import subprocess
import tempfile
from pathlib import Path

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from penstock.jvm import QUIET
from penstock.log.broker import ARCHIVE, Broker
from penstock.ops.stack.trial import free_port

TOPIC = "warmup"
PATIENCE = 60.0


def usual_work(address: str) -> None:
    """A topic, a record in it, and a reader of it."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result(PATIENCE)
    producer = Producer({"bootstrap.servers": address, "acks": "all", "enable.idempotence": True})
    producer.produce(TOPIC, b"{}", key=b"key", headers={"event_id": b"1"})
    producer.flush(PATIENCE)
    reader = Consumer({"bootstrap.servers": address, "group.id": TOPIC, "auto.offset.reset": "earliest"})
    reader.subscribe([TOPIC])
    if reader.poll(PATIENCE) is None:
        raise TimeoutError("the record did not come back")
    reader.close()


def main() -> None:
    ARCHIVE.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=ARCHIVE.parent, prefix="warmup-") as name:
        draft, port = Path(name, ARCHIVE.name), free_port(following=1)
        node = Broker(Path(name), port, port + 1, quick=True)
        node.prepare()
        with subprocess.Popen(node.command(f"-XX:ArchiveClassesAtExit={draft}", *QUIET)) as process:
            try:
                usual_work(f"127.0.0.1:{port}")
            finally:
                # It writes the archive when it ends.
                process.terminate()
        draft.rename(ARCHIVE)


if __name__ == "__main__":
    main()
